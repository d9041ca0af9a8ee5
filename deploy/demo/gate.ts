import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'

/**
 * The user-space gate in front of the demo's protected service, for hosts without root: lets in only addresses
 * that stand in a folder as file names, which the demo's script writes. `gate.ts HOST PORT FILE`.
 */
const [host = '', port = '', list = ''] = process.argv.slice(2)

createServer((_request, response) => {
  response.setHeader('Connection', 'close')
  response.end('You came through the door. It closes when your access ends.\n')
})
  .on('connection', (socket) => {
    if (!readAllowed().includes(plain(socket.remoteAddress ?? ''))) socket.destroy()
  })
  .listen(Number(port), host)

function readAllowed(): string[] {
  try {
    return readFileSync(list, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

const plain = (address: string): string => address.replace(/^::ffff:/, '')

import { createServer } from 'node:http'
import process from 'node:process'

/** The protected service of the demo: says that you came through. `service.ts PORT`. */
const port = Number(process.argv[2])

createServer((_request, response) => {
  response.setHeader('Connection', 'close')
  response.end('You came through the door. It closes when your access ends.\n')
}).listen(port, '::')

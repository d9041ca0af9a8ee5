import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configVariables } from '#server/platform/config.ts'

const root = new URL('..', import.meta.url)
// Tables may be padded.
const readme = readFileSync(new URL('README.md', root), 'utf8').replace(/ {2,}/g, ' ')
const map = readme.slice(readme.indexOf('## The map'), readme.indexOf('## Glossary'))

it('lists every setting of the environment with what it accepts', () => {
  for (const { name, description } of configVariables)
    expect(readme).toContain(`| \`${name}\` | ${description}`)
})

it('names every folder of the top level and of the server in its map', () => {
  const folders = (path: string) =>
    readdirSync(new URL(path, root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
  const ignored = new Set(['node_modules', 'data', 'dist'])
  for (const name of [...folders('.'), ...folders('server')])
    if (!ignored.has(name)) expect(map, name).toContain(`${name}/`)
})

it('points only at files that exist', () => {
  const paths = [...readme.matchAll(/`((?:server|agent|web|machines|migrations|deploy|tests)\/[\w./-]+)`/g)]
  expect(paths.length).toBeGreaterThan(10)
  for (const [, path = ''] of paths) {
    const folder = new URL(path.endsWith('/') ? path : path.replace(/[^/]*$/, ''), root)
    const name = path.endsWith('/') ? undefined : path.split('/').at(-1)
    const found = readdirSync(folder)
    if (name !== undefined) expect(found, path).toContain(name)
  }
})

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleHash } from './bundle-hash.plugin.ts'

describe('a release’s build', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'knoc-build-'))
    await mkdir(join(root, 'public'))
    await writeFile(join(root, 'public/sw.js'), "const release = 'BUNDLE_HASH'\n")
    await writeFile(
      join(root, 'index.html'),
      '<html><head><title>x</title></head><body><script type="module" src="/main.js"></script></body></html>',
    )
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  /** Builds a release whose code says this; its hash, its files and those that it keeps of the one before. */
  async function release(text: string) {
    await writeFile(join(root, 'main.js'), `console.log(${JSON.stringify(text)})`)
    await build({
      root,
      configFile: false,
      logLevel: 'error',
      plugins: [bundleHash()],
      build: { outDir: join(root, 'dist'), emptyOutDir: true, modulePreload: { polyfill: false } },
    })
    const read = (path: string) => readFile(join(root, 'dist', path), 'utf8').catch(() => '')
    return {
      hash: (await read('bundle-hash.txt')).trim(),
      page: await read('index.html'),
      worker: await read('sw.js'),
      own: await readdir(join(root, 'dist/assets')),
      kept: await readdir(join(root, 'dist/previous/assets')).catch(() => []),
      keptHash: (await read('previous/bundle-hash.txt')).trim(),
    }
  }

  it('writes one hash into the pages, the worker and the file for the server', async () => {
    const { hash, page, worker, kept } = await release('one')
    expect(hash).toMatch(/^[0-9a-f]{32}$/)
    expect(page).toContain(`<meta name="bundle-hash" content="${hash}" />`)
    expect(worker).toBe(`const release = '${hash}'\n`)
    expect(kept).toEqual([])
  })

  it('keeps the hashed files of the release before, and of no other', async () => {
    const first = await release('first')
    const second = await release('second')
    expect(second.kept).toEqual(first.own)
    expect(second.keptHash).toBe(first.hash)
    expect(second.own).not.toEqual(first.own)
    const third = await release('third')
    expect(third.kept).toEqual(second.own)
  })

  it('keeps them over a build that changes nothing', async () => {
    const before = await release('same')
    const again = await release('same')
    expect(again.hash).toBe(before.hash)
    expect(again.kept).toEqual(before.kept)
    expect(again.kept).not.toEqual([])
  })
})

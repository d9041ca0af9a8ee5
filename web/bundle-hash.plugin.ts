import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Plugin } from 'vite'
import { type Earlier, previousFolder, previousOf, readEarlier } from './previous-files.ts'

/**
 * One hash over both bundles (JsBundleHash, decision 35): written to `bundle-hash.txt` for the server, into each page
 * as `<meta name="bundle-hash">` and into the service worker; and the release before this one is kept beside it.
 *
 * It stands in the page, not in a chunk: a chunk that held the hash of all others would change its content without
 * changing its name, and caches keep hashed files for ever. Pages are never cached.
 */
export function bundleHash(): Plugin {
  let folders = { out: '', public: '' }
  let earlier: Earlier = { last: null, beforeLast: null }
  return {
    name: 'knoc-bundle-hash',
    enforce: 'post',
    apply: 'build',
    configResolved: ({ build, publicDir, root }) => {
      folders = { out: resolve(root, build.outDir), public: publicDir }
    },
    // The folder is emptied after this.
    buildStart: async () => {
      earlier = await readEarlier(folders.out)
    },
    generateBundle: {
      order: 'post',
      async handler(_, bundle) {
        const pages = Object.values(bundle).filter((file) => file.fileName.endsWith('.html'))
        const hash = hashOf(Object.values(bundle).filter((file) => !pages.includes(file)))
        for (const page of pages)
          if (page.type === 'asset')
            page.source = String(page.source).replace(
              '</head>',
              `  <meta name="bundle-hash" content="${hash}" />\n  </head>`,
            )
        const emit = (fileName: string, source: string | Uint8Array) =>
          this.emitFile({ type: 'asset', fileName, source })
        emit('bundle-hash.txt', `${hash}\n`)
        const worker = await readFile(join(folders.public, 'sw.js'), 'utf8')
        emit('sw.js', worker.replace('BUNDLE_HASH', hash))
        const previous = previousOf(earlier, hash)
        if (previous === null) return
        emit(`${previousFolder}/bundle-hash.txt`, `${previous.hash}\n`)
        for (const [name, content] of previous.files)
          if (!(name in bundle)) emit(`${previousFolder}/${name}`, content)
      },
    },
  }
}

/** Names carry a hash of the content already; the content is taken as well, for files that have none. */
function hashOf(
  files: readonly ({ fileName: string } & ({ code: string } | { source: string | Uint8Array }))[],
): string {
  const hash = createHash('sha256')
  for (const file of files.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1)))
    hash
      .update(`${file.fileName}\0`)
      .update('code' in file ? file.code : file.source)
      .update('\0')
  return hash.digest('hex').slice(0, 32)
}

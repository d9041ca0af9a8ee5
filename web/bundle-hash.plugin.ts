import { createHash } from 'node:crypto'
import type { Plugin } from 'vite'

/**
 * One hash over both bundles (JsBundleHash, decision 35): written to `bundle-hash.txt` for the server and into
 * each page as `<meta name="bundle-hash">`.
 *
 * It stands in the page, not in a chunk: a chunk that held the hash of all others would change its content without
 * changing its name, and caches keep hashed files for ever. Pages are never cached.
 */
export function bundleHash(): Plugin {
  return {
    name: 'knoc-bundle-hash',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const pages = Object.values(bundle).filter((file) => file.fileName.endsWith('.html'))
        const hash = hashOf(Object.values(bundle).filter((file) => !pages.includes(file)))
        for (const page of pages)
          if (page.type === 'asset')
            page.source = String(page.source).replace(
              '</head>',
              `  <meta name="bundle-hash" content="${hash}" />\n  </head>`,
            )
        this.emitFile({ type: 'asset', fileName: 'bundle-hash.txt', source: `${hash}\n` })
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

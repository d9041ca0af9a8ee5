import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { bundleHash } from './bundle-hash.plugin.ts'
import { chunkGroups } from './chunk-groups.ts'

const folder = (path: string) => new URL(path, import.meta.url).pathname

/** Portal and console: two pages that share chunks; everything hashed, nothing inline (CSP: 'self' only). */
export default defineConfig({
  root: folder('.'),
  base: '/',
  plugins: [react(), tailwindcss(), bundleHash()],
  build: {
    outDir: folder('./dist'),
    emptyOutDir: true,
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      input: { portal: folder('./index.html'), console: folder('./admin.html') },
      output: { codeSplitting: { groups: chunkGroups } },
    },
  },
})

// The portal's service worker: it keeps hashed files, which never change, and nothing else (decision 35). Pages and
// /api always come from the network; where there is none, a page of its own says so.

// The build writes its own hash here, so that each release is a new worker.
const release = 'BUNDLE_HASH'
const prefix = 'knoc-'
const cacheName = prefix + release

self.addEventListener('install', () => self.skipWaiting())

self.addEventListener('activate', (event) => event.waitUntil(takeOver()))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin) return
  if (pathname.startsWith('/assets/')) event.respondWith(fromCache(request))
  else if (request.mode === 'navigate' && !isApi(pathname)) event.respondWith(fromNetwork(request))
})

/**
 * Older releases' files go; pages that are open already are looked after from here on. No navigation preload: what
 * this worker leaves to the browser would be asked for twice, and the address an identity provider sends people
 * back to is good once.
 */
async function takeOver() {
  for (const name of await caches.keys())
    if (name.startsWith(prefix) && name !== cacheName) await caches.delete(name)
  await self.clients.claim()
}

/** A name with a hash means one content for ever. A full disk only means that nothing is kept. */
async function fromCache(request) {
  const cache = await caches.open(cacheName)
  const kept = await cache.match(request)
  if (kept) return kept
  const response = await fetch(request)
  if (isKeepable(response)) await cache.put(request, response.clone()).catch(() => null)
  return response
}

async function fromNetwork(request) {
  try {
    return await fetch(request)
  } catch {
    return offlinePage()
  }
}

const isApi = (pathname) => pathname === '/api' || pathname.startsWith('/api/')

/** A whole answer of ours, and no page: a proxy may answer anything with one. */
const isKeepable = (response) =>
  response.status === 200 &&
  response.type === 'basic' &&
  !/text\/html/i.test(response.headers.get('Content-Type') ?? 'text/html')

const texts = {
  en: {
    title: 'The server can’t be reached',
    text: 'Nothing can be opened or closed from here now, and access doesn’t follow your address. What is open stays open until its end.',
    action: 'Try again',
  },
  de: {
    title: 'Der Server ist nicht erreichbar',
    text: 'Von hier aus lässt sich jetzt nichts öffnen oder schließen, und der Zugriff folgt Ihrer Adresse nicht. Was offen ist, bleibt bis zu seinem Ende offen.',
    action: 'Erneut versuchen',
  },
}

/** Says where things stand, without knowing who is there. The link asks for the same address again. */
function offlinePage() {
  const locale = /^de\b/i.test(self.navigator.language) ? 'de' : 'en'
  const { title, text, action } = texts[locale]
  const html = `<!doctype html>
<html lang="${locale}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · Knoc</title>
    <style>
      :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
      body { min-height: 100dvh; margin: 0; display: grid; place-content: center; }
      main { max-width: 26rem; padding: 3rem 2rem; border: 1px solid GrayText; border-radius: 13rem 13rem 1.5rem 1.5rem;
        margin: 1rem; text-align: center; padding-top: 6rem; }
      h1 { font-size: 1.5rem; line-height: 1.2; }
      a { display: inline-block; padding: 0.6rem 1.2rem; border: 2px solid; border-radius: 0.75rem; color: inherit;
        font-weight: 600; text-decoration: none; }
    </style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <p>${text}</p>
      <p><a href="">${action}</a></p>
    </main>
  </body>
</html>
`
  return new Response(html, {
    status: 503,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    },
  })
}

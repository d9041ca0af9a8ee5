/**
 * The service worker with which an installation takes its service worker back (`KNOC_SERVICE_WORKER=off`): it answers
 * nothing, drops what was kept and unregisters itself. Decision 35.
 */
export const retiredWorker = `self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(leave()))

async function leave() {
  for (const name of await caches.keys()) await caches.delete(name)
  await self.registration.unregister()
}
`

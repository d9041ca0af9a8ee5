import type { Route } from 'playwright-core'

/**
 * Lets the server answer, and changes what the page gets of it: `change` has the answer's data. A refusal passes as it
 * is, and what a page no longer waits for is nobody's fault.
 */
export async function changeAnswer<Data>(route: Route, change: (data: Data) => Data): Promise<void> {
  try {
    const response = await route.fetch()
    const json = (await response.json()) as { data?: Data }
    if (json.data === undefined) return await route.fulfill({ response, json })
    await route.fulfill({ response, json: { ...json, data: change(json.data) } })
  } catch {
    await route.abort().catch(() => undefined)
  }
}

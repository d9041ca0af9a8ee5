import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { createCodeApp } from './codes.ts'

/** A user's or administrator's name and password. */
export type Login = { userName: string; password: string }

/** Fills in the login form that stands on the page, of either realm, and sends it. */
export async function submitLogin(page: Page, { userName, password }: Login): Promise<void> {
  await page.getByLabel('Username').fill(userName)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Signs a user in; ends on the dashboard. */
export async function signIn(page: Page, login: Login): Promise<void> {
  await page.goto('/')
  await submitLogin(page, login)
  await page.waitForURL('**/home/new')
  await heading(page, /^Hello, /).waitFor()
}

/** Signs an administrator in; ends on the console's home. */
export async function signInAdmin(page: Page, login: Login): Promise<void> {
  await page.goto('/admin/login')
  await submitLogin(page, login)
  await page.waitForURL('**/admin/home')
}

/** Signs the administrator out, and waits for the page that starts anew: the guards lead to the login before it. */
export async function logOutAdmin(page: Page): Promise<void> {
  await markDocument(page)
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await expect
    .poll(() => isSameDocument(page).catch(() => true), { timeout: 20_000, interval: 20 })
    .toBe(false)
  await heading(page, 'Admin login').waitFor()
}

/** Goes to one of the console's pages by its navigation. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()
  await heading(page, name).waitFor()
}

/** The page's one heading. */
export const heading = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name })

/** Chooses an action from a row's menu. */
export async function chooseAction(page: Page, subject: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${subject}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Fills in the dialog that makes a user without a second factor, and sends it; the username it chose by itself. */
export async function createUser(
  page: Page,
  { name, company = '', password }: { name: string; company?: string; password: string },
): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'Create a user' })
  await dialog.getByLabel('Name', { exact: true }).fill(name)
  await dialog.getByLabel('Company').fill(company)
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await dialog.getByLabel('Confirm password').fill(password)
  const userName = await dialog.getByLabel('Username').inputValue()
  await dialog.getByRole('switch', { name: 'Second factor' }).click()
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return userName
}

/** An entry's card on the dashboard. */
export const entry = (page: Page, name: string): Locator => page.getByRole('article', { name })

/** Leaves a mark on the document, which is gone after a reload. */
export const markDocument = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.documentElement.dataset['mark'] = 'same'
  })

/** Whether the page was never loaded anew since `markDocument`. */
export const isSameDocument = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.dataset['mark'] === 'same')

/** Waits until something on the page reads so. */
export const reads = (locator: Locator, text: string | RegExp, timeout = 10_000) =>
  expect.poll(() => locator.innerText().catch(() => ''), { timeout, interval: 20 }).toMatch(text)

/** Whether the field with this label has the focus. */
export const isFocused = (page: Page, label: string): Promise<boolean> =>
  page.getByLabel(label, { exact: true }).evaluate((field) => field === document.activeElement)

/** Confirms the secret that the onboarding page shows; ends at `home` with the secret's app and the recovery codes. */
export async function enrol(page: Page, { onboard, home }: { onboard: string; home: string }) {
  await page.waitForURL(onboard)
  const secret = (await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()).replaceAll(' ', '')
  const app = createCodeApp(secret)
  await page.getByLabel('Code', { exact: true }).fill(await app.next())
  await page.getByRole('button', { name: 'Verify' }).click()
  const list = page.getByRole('list', { name: 'Your recovery codes' })
  await list.waitFor()
  const recoveryCodes = await list.getByRole('listitem').allInnerTexts()
  await page.getByLabel('I have kept them').check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(home)
  return { app, recoveryCodes }
}

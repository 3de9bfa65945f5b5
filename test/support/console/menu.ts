// The menu of the signed-in person, where theme, language, time zone and sign-out are.
import type { Page } from 'playwright-core'

/** Opens the menu of the person and takes one of its entries. */
export async function chooseInMenu(page: Page, entry: string, person = 'ada'): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${person}\\b`) }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

export async function switchToEnglish(page: Page): Promise<void> {
  await chooseInMenu(page, 'English')
  await page.locator('html[lang=en]').waitFor({ state: 'attached' })
}

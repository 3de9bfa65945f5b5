// Sheet after sheet of one page, opened by its address as a link would, and what of each is not there
// to be read.
import type { Page } from 'playwright-core'

export interface Shown {
  /** What `open=` names. */
  open: string
  /** What must be read there; what is not a text or empty is left out. */
  texts: readonly unknown[]
}

const waitMs = 5_000
/** Pages that ask for what they open; the others have it in their list. */
const byId = /tasks|requests/

/** Those of which something is missing; the page is never loaded anew in between. */
export async function missingFromSheets(
  page: Page,
  path: string,
  sheets: readonly Shown[],
): Promise<{ open: string; missing: string[] }[]> {
  // Where rows are not needed, none are drawn again for every sheet.
  const at = byId.test(path) ? `${path}?model=none` : `${path}?`
  await page.goto(at)
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (!byId.test(path)) await loadAll(page)
  const wanted = sheets.map(({ open, texts }) => ({
    open,
    texts: texts.filter((text) => typeof text === 'string' && text !== '') as string[],
  }))
  return page.evaluate(`(${readAll})(${JSON.stringify({ at, wanted, waitMs })})`)
}

async function loadAll(page: Page): Promise<void> {
  await page.getByRole('row').nth(1).waitFor()
  const more = page.getByRole('button', { name: 'Load more' })
  while (await more.isVisible()) {
    // The last page takes the button away, maybe before it is clicked.
    await more.click({ timeout: waitMs }).catch(() => {})
    await page.waitForLoadState('networkidle')
  }
}

/** Runs in the page, so that hundreds take seconds. */
const readAll = `async ({ at, wanted, waitMs }) => {
  const textOf = () => [...document.querySelectorAll('[role=dialog]')]
    .map((dialog) => dialog.textContent + ' ' +
      [...dialog.querySelectorAll('[title]')].map((each) => each.title).join(' '))
    .join(' ')
  const found = []
  for (const { open, texts } of wanted) {
    history.pushState(null, '', at + '&open=' + encodeURIComponent(open))
    dispatchEvent(new PopStateEvent('popstate'))
    const untilMs = performance.now() + waitMs
    let missing = texts
    do {
      await new Promise((resolve) => setTimeout(resolve, 10))
      const shown = textOf()
      missing = texts.filter((text) => !shown.includes(text))
    } while ((missing.length > 0 || textOf() === '') && performance.now() < untilMs)
    if (missing.length > 0 || textOf() === '') found.push({ open, missing })
    // The others are hardly better, and each of them is waited for.
    if (found.length === 3) break
  }
  return found
}`

// Walks through views of the console in one page, looks at each at two widths, and collects what is wrong
// with it: layout, axe, English in Chinese, errors of the browser.
import type { Page } from 'playwright-core'
import { until } from '../read.ts'
import { goTo, seriousFindings, shoot, untilPage } from './browser.ts'
import { type BusyGateway, quoted } from './busy.ts'
import { englishOn } from './english.ts'
import { layoutFaults } from './layout.ts'
import { headed, watchTraffic } from './traffic.ts'
import type { Walk } from './views.ts'

export interface Look {
  language: 'en' | 'zh'
  theme: 'light' | 'dark'
  /** The rules of axe that are checked; all when there are none. */
  rules: readonly string[] | undefined
  widths: readonly Width[]
}

const heights = { 1440: 900, 390: 844 } as const
type Width = keyof typeof heights

/** What is in front is drawn in full, and nothing waits for data. */
const isSettled = `(() => {
  const inFront = [...document.querySelectorAll('[role=dialog], [role=menu]')]
  const waiting = [...document.querySelectorAll('[aria-busy=true], .mantine-Loader-root')]
  return inFront.every((each) => getComputedStyle(each).opacity === '1') &&
    !waiting.some((each) => each.checkVisibility())
})()`

const lastingMs = 5_000

/** A page is drawn again after its width has changed: what is gone by then was never a fault. */
async function lastingFaults(page: Page): Promise<string[]> {
  const untilMs = performance.now() + lastingMs
  for (;;) {
    const faults = await layoutFaults(page)
    if (faults.length === 0 || performance.now() > untilMs) return faults
    await Bun.sleep(50)
  }
}

/** Colors change in steps. */
async function lastingFindings(page: Page, rules: Look['rules']) {
  const found = await seriousFindings(page, rules)
  return found.length === 0 ? found : seriousFindings(page, rules)
}

export function startWalk(
  page: Page,
  gateway: BusyGateway,
  { language, theme, rules, widths }: Look,
): { walk: Walk; found: string[]; seen: Set<string> } {
  const found: string[] = []
  const seen = new Set<string>()
  const quiet = watchTraffic(page)
  const word = (en: string, zh: string) => (language === 'en' ? en : zh)
  const settle = async () => {
    await quiet()
    await untilPage(page, isSettled)
  }
  const look = async (name: string, width: Width) => {
    const where = `${name} ${width}`
    await page.setViewportSize({ width, height: heights[width] })
    await untilPage(page, isSettled)
    if (process.env['TEST_SCREENSHOTS']) await shoot(page, `${name}-${language}-${theme}-${width}`)
    const faults = await lastingFaults(page)
    // At one of the widths; the other look has the other one.
    const isChecked = width === (language === 'en' ? 1440 : 390)
    const axe = isChecked ? await lastingFindings(page, rules) : []
    const english = language === 'zh' && isChecked ? await englishOn(page, quoted) : []
    found.push(
      ...faults.map((fault) => `${where}: ${fault}`),
      ...axe.map((finding) => `${where}: ${finding.id}: ${finding.where}`),
      ...english.map((text) => `${where}: English: ${text}`),
    )
  }
  const walk: Walk = {
    gateway,
    async at(path) {
      seen.add(`/console${path.split('?')[0]}`)
      // What was open on the page before is gone.
      await goTo(page, '/console/set-up')
      await goTo(page, `/console${path}`)
      await headed(page)
      await settle()
    },
    async press(en, zh) {
      const name = word(en, zh)
      await until(`${name} to press at ${page.url()}`, () =>
        page.evaluate<true | undefined>(pressIn(name)),
      )
      await settle()
    },
    async row(text) {
      await until(`a row of ${text}`, () => page.evaluate<true | undefined>(openRow(text)))
      await settle()
    },
    async fill(en, zh, value) {
      await page.getByRole('dialog').getByLabel(word(en, zh)).first().fill(value)
    },
    async choose(en, zh, option) {
      await page
        .getByRole('combobox', { name: word(en, zh) })
        .first()
        .click()
      await page.getByRole('option', { name: option, exact: true }).click()
      await settle()
    },
    async see(name) {
      for (const width of widths) await look(name, width)
      await page.setViewportSize({ width: widths[0]!, height: heights[widths[0]!] })
    },
    async tabs(name) {
      const count = await page.evaluate<number>(`${tabList}.length`)
      for (let at = 0; at < count; at++) {
        await page.evaluate(`${tabList}[${at}].click()`)
        await settle()
        await walk.see(`${name}-${at + 1}`)
      }
    },
  }
  return { walk, found, seen }
}

/** The first row of tabs of what is in front. */
const tabList = `[...([...document.querySelectorAll('[role=dialog]')].at(-1) ?? document)
  .querySelector('[role=tablist]').querySelectorAll('[role=tab]')]`

const pressIn = (name: string): string => `(() => {
  const read = (each) => {
    const copy = each.cloneNode(true)
    for (const drawn of copy.querySelectorAll('[aria-hidden=true]')) drawn.remove()
    return copy.textContent.trim()
  }
  const said = (each) => [each.getAttribute('aria-label'), read(each)]
  const all = [...document.querySelectorAll('button, [role=tab], [role=menuitem], label')]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled)
  const name = ${JSON.stringify(name)}
  const chosen = all.findLast((each) => said(each).includes(name)) ??
    all.findLast((each) => said(each).some((text) => text?.startsWith(name)))
  chosen?.click()
  return chosen === undefined ? undefined : true
})()`

const openRow = (text: string): string => `(() => {
  const row = [...document.querySelectorAll('[role=row][data-clickable]')]
    .find((each) => each.textContent.includes(${JSON.stringify(text)}))
  row?.click()
  return row === undefined ? undefined : true
})()`

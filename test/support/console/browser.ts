// A real Chromium for tests of the console, and what every page of it must pass: no error in its
// console, no report of its content policy, nothing above minor by axe.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { root } from '../gateway.ts'
import { until } from '../read.ts'

/** The headless shell comes first: it takes a fifth less of the machine. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

export const chromiumPath: string | undefined =
  process.env['TEST_CHROMIUM'] || programs.flatMap((name) => Bun.which(name) ?? [])[0]

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox', '--in-process-gpu'] })

/** Screenshots that people look at; CI, which throws its clone away, takes none unless it is told where. */
const shots =
  process.env['TEST_SCREENSHOTS'] || (process.env['CI'] ? undefined : join(root, 'screenshots'))

export async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: join(shots, `${name}.png`) })
}

export interface Poll {
  language?: 'en' | 'zh'
  theme?: 'light' | 'dark'
  width?: number
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** What went wrong on the page so far. */
  complaints: string[]
}

/** A visitor of their own, with nothing remembered. */
export async function visit(browser: Browser, base: string, poll: Poll = {}): Promise<Visit> {
  const { language = 'en', theme = 'light', width = 1280 } = poll
  const context = await browser.newContext({
    baseURL: base,
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    colorScheme: theme,
    viewport: { width, height: 850 },
    reducedMotion: 'reduce',
  })
  // Before a case runs out of time, so that it can say what it waited for.
  context.setDefaultTimeout(240_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // The first question is who is signed in, and the answer may be nobody.
    const { url } = message.location()
    const isSignIn = message.text().includes('401') && url.endsWith('/session')
    if (message.type() === 'error' && !isSignIn) complaints.push(`${message.text()} ${url}`)
  })
  return { page, context, complaints }
}

let axeSource: string | undefined

/** What fades in has less contrast until it is there; a spinner never ends. */
const animationsEnd = `Promise.all(
  document.getAnimations().map((each) =>
    each.effect?.getComputedTiming().endTime === Infinity ? undefined : each.finished.catch(() => {}),
  ),
).then(() => {})`

export interface Finding {
  id: string
  impact: string | null
  where: string
}

/** Findings above minor; of these rules alone, where a page has passed the others. */
export async function seriousFindings(page: Page, rules?: readonly string[]): Promise<Finding[]> {
  axeSource ??= readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')
  // Through the debugger, not as a script of the page: its policy would refuse it, rightly.
  if (!(await page.evaluate<boolean>('globalThis.axe !== undefined'))) {
    await page.evaluate(axeSource)
  }
  await page.evaluate(animationsEnd)
  const found = await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(options: object): Promise<{
          violations: { id: string; impact: string | null; nodes: { html: string }[] }[]
        }>
      }
    }
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(only !== undefined && { runOnly: [...only] }),
    })
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map(({ html }) => html.slice(0, 160)).join(' | '),
    }))
  }, rules)
  return found.filter(({ impact }) => impact !== null && impact !== 'minor')
}

/** As a link of the console leads there: nothing is loaded anew but what the page itself needs. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new Event('popstate'))`,
  )
}

export const password = 'a long enough password'

/** Makes the first administrator with the link the gateway printed. */
export async function setUp(page: Page, output: string, name = 'ada'): Promise<void> {
  const link = /(\/console\/set-up#\w+)/.exec(output)?.[1]
  if (link === undefined) throw new Error(`no set-up link in:\n${output}`)
  await page.goto(link)
  await page.getByLabel(/^(Name|用户名)/).fill(name)
  await page.getByLabel(/^(Password|密码)/).fill(password)
  await page.getByRole('button', { name: /^(Create administrator|创建管理员)$/ }).click()
  await page.locator('nav').waitFor()
}

export async function signIn(page: Page, name = 'ada'): Promise<void> {
  await page.goto('/console/')
  await page.getByLabel(/^(Name|用户名)/).fill(name)
  await page.getByLabel(/^(Password|密码)/).fill(password)
  await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click()
  await page.locator('nav').waitFor()
}

/**
 * Asks from here: the content security policy of the console forbids the evaluation that
 * `page.waitForFunction` repeats in the page.
 */
export const untilPage = (page: Page, condition: string): Promise<true> =>
  until(condition, async () => (await page.evaluate<boolean>(condition)) || undefined)

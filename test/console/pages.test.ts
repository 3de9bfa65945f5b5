// The console in a real browser: every page, drawer, dialog, menu and tab in both languages and both
// themes, on a screen and on a phone, and the things people do there.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  setUp,
  shoot,
  signIn,
  untilPage,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { type BusyGateway, startBusy } from '../support/console/busy.ts'
import { type Look, startWalk } from '../support/console/crawl.ts'
import { watchTraffic } from '../support/console/traffic.ts'
import { memberPages, memberViews, pageViews, views } from '../support/console/views.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

/** What a theme or a language can break; the rest of a page is the same in all of them. */
const ofLooks = ['color-contrast', 'html-has-lang', 'html-lang-valid', 'button-name', 'link-name']

const isFull = process.env['TEST_CONSOLE_FULL'] !== undefined

/** Both languages, both themes and both widths; all of them together when there is time. */
const looks: readonly Look[] = !isFull
  ? [
      { language: 'en', theme: 'light', rules: undefined, widths: [1440, 390] },
      { language: 'zh', theme: 'dark', rules: ofLooks, widths: [390] },
    ]
  : (['en', 'zh'] as const).flatMap((language) =>
      (['light', 'dark'] as const).map((theme) => ({
        ...{ language, theme, rules: undefined, widths: [1440, 390] as const },
      })),
    )

/** Every drawer, dialog, menu and tab, too, when there is time. */
const walked = isFull ? { ada: views, mel: memberViews } : { ada: pageViews, mel: memberPages }

/** A crawl opens well over a hundred views. */
const crawlMs = 900_000

if (chromiumPath === undefined) {
  console.error('left out: the console in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the console', () => {
    let gateway: TestGateway
    let browser: Browser
    let first: Visit

    beforeAll(async () => {
      gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '1' } })
      browser = await openBrowser()
      first = await visit(browser, gateway.url)
      await setUp(first.page, gateway.output())
      await fill(gateway)
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    describe('every page, drawer, dialog, menu and tab', () => {
      let busy: BusyGateway

      beforeAll(async () => {
        busy = await startBusy()
      })
      afterAll(() => busy.stopAll())

      for (const look of looks) {
        for (const [name, walks] of Object.entries(walked)) {
          test(
            `fits, can be read and is in one language: ${look.language}, ${look.theme}, ${name}`,
            async () => {
              const width = look.widths[0]!
              const { page, context, complaints } = await visit(browser, busy.url, {
                ...look,
                width,
              })
              await signIn(page, name)
              const paths = await pathsOf(page)
              const { walk, found, seen } = startWalk(page, busy, look)
              for (const view of walks) await view(walk)
              expect(found).toEqual([])
              // A page that is new has to be in the list.
              expect(paths.filter((path) => !seen.has(path))).toEqual([])
              const language = await page.locator('html').getAttribute('lang')
              expect(language).toBe(look.language === 'zh' ? 'zh-CN' : 'en')
              expect(complaints.filter((text) => !text.includes('the server responded'))).toEqual(
                [],
              )
              await context.close()
            },
            crawlMs,
          )
        }
      }
    })

    test('loads less than 300 kB before the overview can be used, charts and fonts included', async () => {
      const { page, context } = await visit(browser, gateway.url)
      const loaded: Promise<number>[] = []
      page.on('requestfinished', (request) => {
        if (/\.(js|css|woff2|svg)$/.test(request.url())) {
          loaded.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
        }
      })
      const quiet = watchTraffic(page)
      await signIn(page)
      await page
        .getByRole('img', { name: /^Requests over time/ })
        .locator('canvas')
        .waitFor()
      await quiet()
      const bytes = (await Promise.all(loaded)).reduce((sum, size) => sum + size, 0)
      expect(bytes).toBeGreaterThan(100_000)
      expect(bytes).toBeLessThan(300_000)
      await context.close()
    })

    test('makes a token that works', async () => {
      const { page } = first
      await page.goto('/console/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('Name').fill('from-the-console')
      await page.getByRole('combobox', { name: 'Account' }).click()
      await page.getByRole('option', { name: 'acme' }).click()
      await page.getByLabel('Budget amount').fill('5.00')
      await page.getByRole('button', { name: 'Create' }).click()
      const secret = await page.getByLabel('Copy the secret now').textContent()
      expect(secret).toMatch(/^sk-/)
      const answer = await fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      expect(answer.status).toBe(200)
      await page.getByRole('button', { name: 'I have saved it' }).click()
      await page.getByRole('row', { name: /from-the-console/ }).click()
      await page.getByText('Resets').waitFor()
      const { body } = await gateway.admin('GET', '/tokens')
      const made = body.items.find(({ name }: { name: string }) => name === 'from-the-console')
      expect(made.budget).toMatchObject({ amount: '5.00', per: 'month', left: '5.00' })
    })

    test('sends a chat from the playground and says what it cost', async () => {
      const { page } = first
      await page.goto('/console/playground?model=txta-plus')
      await page.getByLabel('Prompt').fill('Say something [[sim:tokens=20]]')
      await page.getByRole('button', { name: /^Send/ }).click()
      await page.getByText(/^Cost: 0\.0000\d+ CNY/).waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      expect(await page.getByText('chat.completion.chunk').count()).toBeGreaterThan(5)
    })

    test('makes a video in the playground and plays it', async () => {
      const { page } = first
      await page.goto('/console/playground?try=Video')
      await page.getByRole('button', { name: /^Send/ }).click()
      const video = page.locator('video')
      await video.waitFor({ timeout: 20_000 })
      await untilPage(page, '(document.querySelector("video")?.readyState ?? 0) >= 2')
      const seconds = await page.evaluate<number>('document.querySelector("video").duration')
      expect(seconds).toBeGreaterThan(1)
      await shoot(page, 'playground-video')
    })

    test('calls a task off', async () => {
      const { page } = first
      const made = await gateway.post('/v1/videos', {
        model: 'vfa-2.7-t2v',
        prompt: 'slow [[sim:delay=60s]]',
        seconds: 5,
      })
      const { id } = (await made.json()) as { id: string }
      await page.goto(`/console/tasks?open=${id}`)
      await page.getByRole('button', { name: 'Cancel task' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cancel task' })
      await dialog.getByRole('button', { name: 'Keep task' }).waitFor()
      await dialog.getByRole('button', { name: 'Cancel task' }).click()
      await page.getByRole('dialog').getByText('Cancelled').first().waitFor()
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      expect(body.state).toBe('cancelled')
    })

    test('goes everywhere by keyboard', async () => {
      const { page } = first
      await page.goto('/console/')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('t')
      await page.waitForURL('**/console/tasks')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'hidden' })
      await page.keyboard.press('Control+k')
      const search = page.getByRole('textbox', { name: 'Search or paste an ID' })
      await search.fill('request')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/requests')
      await page.getByRole('row').nth(1).waitFor()
      await search.waitFor({ state: 'hidden' })
      await page.keyboard.press('j')
      await page.waitForURL(/open=req_/)
      const before = page.url()
      await page.keyboard.press('j')
      await page.waitForURL((url) => url.href !== before)
      await page.keyboard.press('Escape')
    })
  })
}

/** The paths that the navigation leads to. */
const pathsOf = (page: Page): Promise<string[]> =>
  page.locator('nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''))

/** A little of everything, so that no page is empty. */
async function fill(gateway: TestGateway): Promise<void> {
  for (const content of ['hello', 'again', '[[sim:status=500]]', '[[sim:status=400]]']) {
    await (await gateway.chat(content)).text()
  }
  for (const prompt of ['a cat', 'a dog [[sim:fail]]']) {
    const body = { model: 'vfa-2.7-t2v', prompt, seconds: 5 }
    await (await gateway.post('/v1/videos', body)).text()
  }
  const picture = { model: 'imga-plus', prompt: 'a tree', size: '1024x1024' }
  await (await gateway.post('/v1/images/generations', picture)).text()
}

// The documentation as a reader sees it, in a real browser: found by search and by menu, on a phone, in the
// dark, with examples that can be pasted.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { chromiumPath, openBrowser, seriousFindings, visit } from '../support/console/browser.ts'
import { layoutFaults } from '../support/console/layout.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const asPerson = { headers: { accept: 'text/html' } }

test('an unknown page says so and leads on; a program gets the refusal', async () => {
  const page = await fetch(`${gateway.url}/docs/guide/no-such-page`, asPerson)
  expect(page.status).toBe(404)
  const html = await page.text()
  expect(html).toContain('This page does not exist')
  expect(html).toContain('href="/docs/guide/quick-start"')
  const hostile = await fetch(`${gateway.url}/docs/<script>`, asPerson)
  expect(await hostile.text()).not.toContain('<script>')
  const answer = await fetch(`${gateway.url}/docs/guide/no-such-page`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json'])
})

test('the menu has every page once, by audience, and pages lead to the next one', async () => {
  const home = await (await fetch(`${gateway.url}/docs/guide`)).text()
  const menu = /<nav class="side"[\s\S]*?<\/nav>/.exec(home)![0]
  const audiences = [...menu.matchAll(/<small>([^<]+)<\/small>/g)].map(([, name]) => name)
  expect(audiences).toEqual(['For developers', 'For operators', 'For finance', 'For contributors'])
  const links = [...menu.matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href!)
  expect(links.length).toBeGreaterThan(40)
  expect(new Set(links).size).toBe(links.length)
  let path = links[0]!
  const walked = [path]
  while (walked.length <= links.length) {
    const html = await (await fetch(`${gateway.url}${path}`)).text()
    const next = /<a class="after" href="([^"]+)"/.exec(html)?.[1]
    if (next === undefined) break
    path = next
    walked.push(path)
  }
  expect(walked).toEqual(links)
})

test('who comes from another gateway finds its page in the menu and by its name', async () => {
  const home = await (await fetch(`${gateway.url}/docs/guide`)).text()
  const entries = (await (await fetch(`${gateway.url}/docs/search.json`)).json()) as {
    page: string
    url: string
  }[]
  for (const name of ['LiteLLM', 'new-api', 'Helicone', 'Portkey', 'TensorZero']) {
    const url = `/docs/guide/coming-from-${name.toLowerCase()}`
    expect(home).toContain(`<a href="${url}"`)
    expect(home).toContain(`Coming from ${name}`)
    expect(entries.some((each) => each.page.includes(name) && each.url.startsWith(url))).toBe(true)
  }
})

test('files of the site are sent to all, and no file of the console is', async () => {
  for (const name of ['site.css', 'site.js', 'site-theme.js', 'mark.svg']) {
    const file = await fetch(`${gateway.url}/docs/assets/${name}`)
    expect([name, file.status]).toEqual([name, 200])
  }
  const css = await (await fetch(`${gateway.url}/docs/assets/site.css`)).text()
  const fonts = [...css.matchAll(/url\("?\.\/([\w-]+\.woff2)/g)].map(([, name]) => name!)
  expect(fonts.length).toBe(3)
  const font = await fetch(`${gateway.url}/docs/assets/${fonts[0]}`)
  expect(font.headers.get('content-type')).toBe('font/woff2')
  expect(font.headers.get('cache-control')).toContain('immutable')
  for (const name of ['theme.js', 'main.js', '..%2ftheme.js']) {
    expect((await fetch(`${gateway.url}/docs/assets/${name}`)).status).toBeGreaterThanOrEqual(400)
  }
})

if (chromiumPath === undefined) {
  console.error('left out: the documentation in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('in a browser', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    })
    afterAll(() => browser.close())

    const searchField = (page: Page) =>
      page.getByRole('combobox', { name: 'Search the documentation' })

    /** What people come for: their words, the page, and the heading or text they need there. */
    const wanted = [
      [['first call', 'quick start'], 'quick-start', 'A first call'],
      [['change a price', 'price change'], 'prices', 'Set one price'],
      [['budget'], 'budgets', 'What counts'],
      [['refund'], 'charges', 'Refunds'],
      [['PostgreSQL', 'postgres'], 'backup', 'From SQLite to PostgreSQL'],
      [['TLS', 'https'], 'behind-a-proxy', 'HTTPS with nginx'],
      [['backup'], 'backup', 'Back up'],
      [['LiteLLM', 'moving from litellm'], 'coming-from-litellm', 'What becomes of what'],
      [['chat completions'], 'chat', 'Tools'],
    ] as const

    test('what people come for is found by search, with one choice among the first three', async () => {
      const { page, context, complaints } = await visit(browser, gateway.url)
      await page.goto('/docs/guide')
      for (const [queries, name, heading] of wanted) {
        for (const words of queries) {
          await page.keyboard.press('/')
          await searchField(page).fill(words)
          const found = page.getByRole('option').locator('a')
          await found.first().waitFor()
          const hrefs = await found.evaluateAll((all) => all.map((each) => each.pathname))
          const at = hrefs.indexOf(`/docs/guide/${name}`)
          expect({ words, isNear: at >= 0 && at < 3, hrefs }).toMatchObject({ isNear: true })
          await searchField(page).press('Enter')
          await page.waitForURL((url) => url.pathname === hrefs[0])
        }
        await page.goto(`/docs/guide/${name}`)
        await page.getByRole('heading', { name: heading }).waitFor()
      }
      expect(complaints).toEqual([])
      await context.close()
    })

    test.each([1440, 390])(
      'what people come for is found by menu within three clicks, from any page: %d px',
      async (width) => {
        const { page, context, complaints } = await visit(browser, gateway.url, { width })
        for (const name of new Set(wanted.map(([, page]) => page))) {
          await page.goto('/docs/guide/glossary')
          let clicks = 0
          const click = async (what: Locator) => {
            clicks++
            await what.click()
          }
          const group = page.locator('#menu details', {
            has: page.locator(`a[href="/docs/guide/${name}"]`),
          })
          if (width < 800) await click(page.getByRole('button', { name: 'Menu' }))
          await click(group.locator('summary'))
          await click(group.locator(`a[href="/docs/guide/${name}"]`))
          await page.waitForURL(`**/docs/guide/${name}`)
          expect({ name, clicks }).toEqual({ name, clicks: width < 800 ? 3 : 2 })
        }
        expect(complaints).toEqual([])
        await context.close()
      },
    )

    test('examples have a tab for each language, take the token and are copied as they are shown', async () => {
      const { page, context, complaints } = await visit(browser, gateway.url)
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.goto('/docs/guide/chat')
      await page.getByRole('tab', { name: 'curl' }).first().waitFor()
      await page.getByLabel('Your API token').fill(apiToken)
      const first = page.locator('.tabs').first()
      await first.getByRole('button', { name: 'Copy' }).first().click()
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toContain(`Authorization: Bearer ${apiToken}`)
      expect(copied).toContain(`${gateway.url}/v1/chat/completions`)
      expect(Bun.spawnSync(['sh', '-c', copied]).stdout.toString()).toContain('data: [DONE]')
      await page.getByRole('tab', { name: 'Python' }).first().click()
      await first.getByText(`"${apiToken}"`).waitFor()
      // The language and the token stay for the next page.
      await page.goto('/docs/guide/responses')
      expect(await page.getByLabel('Your API token').inputValue()).toBe(apiToken)
      expect(complaints).toEqual([])
      await context.close()
    })

    test.each([
      ['light', 1440],
      ['dark', 390],
    ] as const)('fits and can be read: %s, %d px', async (theme, width) => {
      const { page, context, complaints } = await visit(browser, gateway.url, { theme, width })
      for (const path of ['/docs/guide', '/docs/guide/chat', '/docs/guide/prices', '/docs']) {
        await page.goto(path)
        await page.locator('.theme-button').waitFor()
        const found = await seriousFindings(page)
        expect({ path, found, faults: await pageFaults(page) }).toEqual({
          ...{ path, found: [], faults: [] },
        })
      }
      if (width < 800) {
        await page.goto('/docs/guide')
        await page.getByRole('button', { name: 'Menu' }).click()
        await page.getByRole('link', { name: 'Open the console' }).waitFor()
        await page.getByRole('link', { name: 'Errors' }).first().click()
        await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
      }
      expect(complaints).toEqual([])
      await context.close()
    })

    test('the theme that is chosen stays, for the console too', async () => {
      const { page, context } = await visit(browser, gateway.url, { theme: 'light' })
      const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
      await page.goto('/docs/guide')
      await page.getByRole('button', { name: 'Change theme' }).click()
      expect(await scheme()).toBe('dark')
      await page.goto('/docs')
      expect(await scheme()).toBe('dark')
      await page.goto('/console/')
      expect(await scheme()).toBe('dark')
      await context.close()
    })
  })
}

/** Tables and code scroll in boxes of their own. */
const pageFaults = async (page: Page): Promise<string[]> =>
  (await layoutFaults(page)).filter((fault) => !fault.includes('class="table"'))

// What people do in the console with requests, tokens and channels: narrow down by time, follow what
// comes, keep a view, hide names, rotate a secret, set up a channel, estimate as a member.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import {
  chromiumPath,
  goTo,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  untilPage,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

if (chromiumPath === undefined) {
  console.error('left out: work in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('work in the console', () => {
    let gateway: TestGateway
    let upstream: TestUpstream
    let browser: Browser
    let it: Visit

    beforeAll(async () => {
      const usage = { prompt_tokens: 8, completion_tokens: 2 }
      const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }]
      const vectors = { object: 'list', data, model: 'any', usage }
      upstream = startUpstream(({ path }) =>
        jsonReply(path.endsWith('/embeddings') ? vectors : completion(usage)),
      )
      gateway = await startGateway({ env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
      await Promise.all(['a', 'b', '[[sim:status=400]]'].map(say))
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    async function say(content: string): Promise<string> {
      const answer = await gateway.chat(content)
      await answer.text()
      return answer.headers.get('x-gateway-request-id')!
    }
    const rows = () => it.page.locator('[role=row][data-clickable]')

    test('bars over the requests narrow them down, by pointer and by keys', async () => {
      const { page } = it
      await goTo(page, '/console/requests')
      await rows().nth(2).waitFor()
      const histogram = page.getByRole('slider', { name: 'Requests over time' })
      await untilPage(page, 'document.querySelector(".histogram canvas") !== null')
      const box = (await histogram.boundingBox())!
      // Over the last hours: the requests are in the last bar.
      await page.mouse.move(box.x + box.width * 0.8, box.y + 20)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width - 2, box.y + 20)
      await page.locator('.histogram [data-marked]').waitFor()
      await page.mouse.up()
      await page.waitForURL(/from=.*to=/)
      expect(await rows().count()).toBe(3)
      await page.getByRole('button', { name: 'All time' }).click()
      await page.waitForURL((url) => !url.search.includes('from='))
      // By keys: the first bar and the second, in which there was nothing.
      await histogram.focus()
      expect(await histogram.getAttribute('aria-valuetext')).toContain('2 succeeded, 1 4xx, 0 5xx')
      for (const key of ['Home', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key)
      await page.waitForURL(/from=.*to=/)
      await page.getByText('No results match these filters.').waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).last().click()
      await rows().nth(2).waitFor()
      expect(new URL(page.url()).search).toBe('')
    })

    test('new requests wait for a click, or come by themselves until paused', async () => {
      const { page } = it
      await goTo(page, '/console/requests?plot=latency')
      await rows().nth(2).waitFor()
      await page.getByRole('img', { name: 'Request latency' }).locator('canvas').waitFor()
      const shown = (id: string) => page.locator(`[role=row] [title="${id}"]`)
      const first = await say('waits')
      const pill = page.getByRole('button', { name: 'Show 1 new' })
      await pill.waitFor()
      expect(await shown(first).count()).toBe(0)
      await pill.click()
      await shown(first).waitFor()
      await pill.waitFor({ state: 'hidden' })
      await page.getByRole('switch', { name: 'Live' }).click()
      const second = await say('comes')
      await shown(second).waitFor()
      await page.getByRole('button', { name: 'Pause' }).click()
      const third = await say('is held back')
      await pill.waitFor()
      expect(await shown(third).count()).toBe(0)
      await page.getByRole('button', { name: 'Resume' }).click()
      await shown(third).waitFor()
      expect(await rows().count()).toBe(6)
    })

    test('a request is asked again in the playground', async () => {
      const { page } = it
      await goTo(page, `/console/requests?open=${await say('once more')}`)
      const sheet = page.getByRole('dialog')
      await sheet.getByText('Price version').waitFor()
      await sheet.getByText('Billed usage').waitFor()
      await shoot(page, 'request-sheet')
      expect(await seriousFindings(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Open in playground' }).click()
      await page.waitForURL(/playground\?use=chat&model=txta-plus/)
      // There is an estimate when there is a model, and it is not the first one of the list.
      await page.getByText(/^Estimated cost: /).waitFor()
      const model = page.getByRole('combobox', { name: 'Model' })
      expect(await model.inputValue()).toBe('txta-plus')
    })

    test('filters are kept under a name, and columns for the next visit', async () => {
      const { page } = it
      await goTo(page, '/console/requests?status=400')
      await rows().first().waitFor()
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('checkbox', { name: 'Channel' }).click()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Saved views' }).click()
      await page.getByRole('menuitem', { name: 'Save current filters' }).click()
      await page.getByRole('textbox', { name: 'View name' }).fill('refused ones')
      await page.keyboard.press('Enter')
      await page.goto('/console/requests')
      await page.getByRole('button', { name: 'Saved views' }).click()
      await page.getByRole('menuitem', { name: 'refused ones' }).click()
      await page.waitForURL(/status=400/)
      await page.getByRole('button', { name: /^Status:\s*400/ }).waitFor()
      const heads = page.getByRole('columnheader')
      expect(await heads.allTextContents()).not.toContain('Channel')
    })

    test('a filter takes the focus, suggests what there is, and is a chip with its name', async () => {
      const { page } = it
      await goTo(page, '/console/requests')
      await rows().first().waitFor()
      await page.getByRole('button', { name: '+ Filter' }).click()
      await page.getByRole('menuitem', { name: 'Token' }).click()
      const field = page.getByRole('combobox', { name: 'Token' })
      await field.waitFor()
      // No shortcut of the page hears these letters.
      await page.keyboard.type('tes')
      await page.getByRole('option', { name: 'acme / test' }).click()
      await page.waitForURL(/token=tok_/)
      await page.getByRole('button', { name: /^Token:\s*acme \/ test$/ }).waitFor()
      await page.getByRole('button', { name: 'Remove filter “Token”' }).click()
      await page.waitForURL((url) => !url.search.includes('token='))
    })

    test('a whole list is sorted by a click on a heading, and says so in the address', async () => {
      const { page } = it
      await goTo(page, '/console/requests')
      await rows().first().waitFor()
      await page.getByRole('button', { name: 'Status' }).click()
      await page.waitForURL(/sort=/)
      const statuses = () =>
        page.locator('[role=row][data-clickable] > :nth-child(2)').allTextContents()
      const shown = await statuses()
      expect(new Set(shown).size).toBeGreaterThan(1)
      const order = new URL(page.url()).searchParams.get('sort')
      const sorted = shown.toSorted()
      expect(shown).toEqual(order === 'status' ? sorted : sorted.toReversed())
      expect(await page.locator('[aria-sort]').count()).toBe(1)
    })

    test('times are in the chosen zone, and a chart has its values as a table', async () => {
      const { page } = it
      await goTo(page, '/console/settings')
      await page.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Shanghai')
      await page.getByRole('option', { name: 'Asia/Shanghai' }).click()
      await page.getByText(/^Asia\/Shanghai \(UTC\+8\) ·/).waitFor()
      await goTo(page, '/console/requests')
      const first = rows().first().locator('time')
      await first.waitFor()
      const at = (await first.getAttribute('datetime')) ?? ''
      const clock = new Date(Date.parse(at) + 8 * 3_600_000).toISOString().slice(11, 19)
      expect(await first.textContent()).toContain(clock)
      await goTo(page, '/console/settings')
      await page.getByRole('button', { name: 'Use the zone of the browser' }).click()
      await goTo(page, '/console/')
      const chart = page.getByRole('img', { name: /^Requests over time/ })
      const values = page.getByRole('button', { name: 'Values as a table' })
      await page.getByRole('figure').filter({ has: chart }).locator(values).click()
      const table = page.getByRole('table', { name: 'Requests over time' })
      await table.waitFor()
      expect(await table.getByRole('row').count()).toBeGreaterThan(23)
    })

    test('the histogram and the latency plot of requests have tables, a request its finish reason', async () => {
      const { page } = it
      await goTo(page, '/console/requests?plot=latency')
      await rows().first().waitFor()
      const buttons = page.getByRole('button', { name: 'Values as a table' })
      await buttons.first().click()
      await buttons.first().click()
      const over = page.getByRole('table', { name: 'Requests over time' })
      expect(await over.getByRole('columnheader').allTextContents()).toEqual([
        ...['Time', 'succeeded', '4xx', '5xx'],
      ])
      const each = page.getByRole('table', { name: 'Request latency' })
      expect(await each.getByRole('row').count()).toBeGreaterThan(1)
      await rows().filter({ hasText: '200' }).first().click()
      const sheet = page.getByRole('dialog')
      await sheet.getByText('stop (complete)').waitFor()
      await page.keyboard.press('Escape')
    })

    test('the eye hides names, and stays closed', async () => {
      const { page } = it
      const dots = () =>
        page.evaluate<string>(
          `getComputedStyle([...document.querySelectorAll('[role=cell]')]
            .find((cell) => cell.textContent.includes('acme')))['-webkit-text-security']`,
        )
      await goTo(page, '/console/tokens')
      await rows().first().waitFor()
      expect(await dots()).toBe('none')
      await page.getByRole('button', { name: 'Privacy' }).click()
      expect(await dots()).toBe('disc')
      await page.reload()
      await rows().first().waitFor()
      expect(await dots()).toBe('disc')
      await shoot(page, 'tokens-private')
      await page.getByRole('button', { name: 'Privacy' }).click()
      expect(await dots()).toBe('none')
    })

    test('a token gets another secret, and the old one an end', async () => {
      const { page } = it
      const made = await gateway.admin('POST', '/tokens', { account: 'acme', name: 'turned' })
      await goTo(page, `/console/tokens?open=${made.body.id}`)
      const sheet = page.getByRole('dialog', { name: 'turned' })
      await sheet.getByRole('tab', { name: 'langchain-openai' }).waitFor()
      await shoot(page, 'token-sheet')
      await sheet.getByRole('button', { name: 'Rotate secret' }).click()
      const dialog = page.getByRole('dialog', { name: 'Rotate secret' })
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Rotate secret' }).click()
      const secret = await dialog.getByLabel('Copy the secret now').textContent()
      for (const token of [secret, made.body.token]) {
        const headers = { authorization: `Bearer ${token}` }
        expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200)
      }
      await dialog.getByRole('button', { name: 'I have saved it' }).click()
      await page.getByRole('row', { name: /turned-old-/ }).waitFor()
    })

    test('a member sees about what a call costs, by the prices of its account', async () => {
      const more = { role: 'member', account: 'acme', password }
      await gateway.admin('POST', '/people', { name: 'mel', ...more })
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page, 'mel')
      await goTo(page, '/console/playground')
      await page.getByText(/^Estimated cost: 0\.0/).waitFor()
      await context.close()
    })

    test('a channel is set up step by step, and serves', async () => {
      const { page } = it
      await goTo(page, '/console/channels')
      await page.getByRole('button', { name: 'New channel' }).click()
      const dialog = page.getByRole('dialog', { name: 'New channel' })
      await dialog.getByRole('radio', { name: 'Text (chat completions)' }).click()
      await shoot(page, 'channel-wizard')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Next' }).click()
      await dialog.getByLabel('Name').fill('cloud')
      await dialog.getByLabel('Base URL').fill(upstream.url)
      await dialog.getByLabel('Keys').fill('upk-0123456789abcdef')
      await dialog.getByRole('button', { name: 'Run test' }).click()
      await dialog.getByText(/^OK, /).waitFor()
      // It is not there yet.
      expect((await gateway.admin('GET', '/channels/cloud')).status).toBe(404)
      await dialog.getByRole('button', { name: 'Next' }).click()
      await dialog.getByRole('checkbox', { name: 'txta-plus' }).waitFor()
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.getByText('All models have prices').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('row', { name: /cloud/ }).waitFor()
      const answer = await gateway.chat('hello')
      expect(answer.status).toBe(200)
      await answer.text()
      await page.getByRole('button', { name: 'Test all' }).click()
      await page.getByText(/^OK, /).first().waitFor()
      await shoot(page, 'channels-tested')
    })

    test('a known provider needs its key alone, and shows where calls will go', async () => {
      const { page } = it
      await goTo(page, '/console/channels')
      await page.getByRole('button', { name: 'New channel' }).click()
      const dialog = page.getByRole('dialog', { name: 'New channel' })
      await dialog.getByRole('combobox', { name: 'Known provider' }).fill('SGLang')
      await page.getByRole('option', { name: 'SGLang' }).click()
      await dialog.getByRole('button', { name: 'Next' }).click()
      await dialog.getByLabel('Base URL').fill(upstream.url)
      await dialog.getByRole('button', { name: 'Run test' }).click()
      await dialog.getByText(`chat: ${upstream.url}/v1/chat/completions`).waitFor()
      expect((await gateway.admin('GET', '/channels/sglang')).status).toBe(404)
      await dialog.getByRole('button', { name: 'Next' }).click()
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('row', { name: /sglang/ }).waitFor()
      const { body } = await gateway.admin('GET', '/channels/sglang')
      expect([body.preset, body.keys]).toEqual(['sglang', 1])
      await gateway.admin('DELETE', '/channels/sglang')
    })
  })
}

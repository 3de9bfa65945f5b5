// What goes wrong on an ordinary day, in the console: a first visit with a password that is refused,
// channels that are down (told by the API, by an alert and on the page), a task that cannot be cancelled.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  shoot,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

/** Boxes whose text does not fit. */
const cutIn = (box: Locator): Promise<string[]> =>
  box.evaluate((element) =>
    [element, ...element.querySelectorAll('*')]
      .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
      .map((each) => each.textContent ?? ''),
  )

if (chromiumPath === undefined) {
  console.error('left out: everyday tasks in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('every day', () => {
    let gateway: TestGateway
    let upstream: TestUpstream
    let browser: Browser
    let it: Visit
    let isKeyGood = false

    beforeAll(async () => {
      upstream = startUpstream(({ path }) =>
        isKeyGood || path.startsWith('/live/')
          ? jsonReply(completion({ prompt_tokens: 5, completion_tokens: 3 }))
          : jsonReply(
              { error: { message: 'Incorrect API key', code: 'invalid_api_key' } },
              { status: 401 },
            ),
      )
      gateway = await startGateway({
        config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: dead
    keys: [upk-0123456789abcdef]
    protocols: { chat: "${upstream.url}/v1" }
    models: { txta-turbo: "*" }
    priority: 10
  - name: live
    keys: [upk-0123456789abcdef]
    protocols: { chat: "${upstream.url}/live/v1" }
    models: { txta-turbo: "*" }
`,
        env: {
          GATEWAY_SANDBOX: 'on',
          GATEWAY_SANDBOX_TASK_SECONDS: '1',
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        },
      })
      browser = await openBrowser()
      it = await visit(browser, gateway.url, { width: 1440 })
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    test('the first visit is led to the set-up and told where the link is', async () => {
      const { page } = it
      expect(await (await fetch(gateway.url)).json()).toEqual({ name: 'model-gateway' })
      await page.goto('/')
      expect(new URL(page.url()).pathname).toBe('/console/')
      await page.getByText(/printed when it started: it is in the terminal/).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'first-visit')
      const link = /http\S+\/console\/set-up#\w+/.exec(gateway.output())?.[0] ?? ''
      await page.getByLabel('Set-up link or code').fill(link)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByLabel('Name').fill('ada')
      await page.getByRole('textbox', { name: 'Password' }).fill('short')
      await page.getByRole('button', { name: 'Create administrator' }).click()
      const refused = page.getByRole('alert')
      await refused.waitFor()
      expect(await cutIn(refused)).toEqual([])
      await shoot(page, 'set-up-refused')
      await page.getByRole('textbox', { name: 'Password' }).fill(password)
      await page.getByRole('button', { name: 'Create administrator' }).click()
      await page.locator('nav').waitFor()
      expect(it.complaints.filter((text) => !text.includes('the server responded'))).toEqual([])
    })

    test('a channel whose key is rejected is down everywhere, until a call succeeds', async () => {
      const { page } = it
      const answer = await gateway.chat('hello', { model: 'txta-turbo' })
      expect(answer.status).toBe(200)
      await answer.text()
      const { health } = (await gateway.admin('GET', '/channels/dead')).body
      expect(health.reason).toBe('keys_rejected')
      expect(health.state).not.toBe('good')
      const down = await until('the alert', () => openAlert('channel_down'))
      expect(down.message).toBe("channel 'dead' is down: all its keys are rejected")
      const { items } = (await gateway.admin('GET', '/traffic?by=channel')).body
      expect(countsOf(items, 'dead')).toEqual([0, 1])
      expect(countsOf(items, 'live')).toEqual([1, 0])
      await page.goto('/console/channels')
      const row = page.getByRole('row', { name: /dead/ })
      await row.getByText('Key rejected').waitFor()
      await row.getByText(/^0\s?%$/).waitFor()
      const button = row.getByRole('button', { name: 'Test' })
      const before = await button.boundingBox()
      await button.click()
      await row.getByText(/^Failed/).waitFor()
      expect(await button.boundingBox()).toEqual(before)
      await shoot(page, 'channel-down')
      await page.goto('/console/')
      await page.getByText(/^dead is down since \d/).waitFor()
      isKeyGood = true
      await page.goto('/console/channels')
      await button.click()
      await row.getByText(/^OK/).waitFor()
      await row.getByText('Good').waitFor()
      await until(
        'the end of the alert',
        async () => !(await openAlert('channel_down')) || undefined,
      )
    })

    const openAlert = async (kind: string) =>
      (await gateway.admin('GET', '/alerts')).body.items.find(
        (each: { kind: string }) => each.kind === kind,
      )
    const countsOf = (
      rows: { channel: string; requests: number; failed_attempts: number }[],
      name: string,
    ) => {
      const row = rows.find(({ channel }) => channel === name)
      return [row?.requests, row?.failed_attempts]
    }

    test('a task that cannot be cancelled says so beforehand', async () => {
      const { page } = it
      const body = { instances: [{ prompt: 'slow [[sim:delay=90s]]' }] }
      const path = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'
      const { name } = (await (await gateway.post(path, body)).json()) as { name: string }
      const id = `video_${name.split('/').at(-1)}`
      expect((await gateway.admin('GET', `/tasks/${id}`)).body.cancel_problem).toBe(
        'upstream_cannot',
      )
      await page.goto(`/console/tasks?open=${id}`)
      await page.getByText('It cannot be cancelled: this upstream does not cancel tasks.').waitFor()
      expect(await page.getByRole('button', { name: 'Cancel task' }).isDisabled()).toBe(true)
    })
  })
}

// Texts that mean harm, in everything that is stored and shown: no page of the console runs, loads or
// opens anything because of them, and all of them are there to be read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { chromiumPath, goTo, openBrowser, setUp, shoot } from '../support/console/browser.ts'
import { fillWithHarm, harmConfig } from '../support/console/hostile-fill.ts'
import { hostileTexts } from '../support/console/hostile-texts.ts'
import { type HostileUpstream, startHostileUpstream } from '../support/console/hostile-upstream.ts'
import { missingFromSheets, type Shown } from '../support/console/sheets.ts'
import { headed, watchTraffic } from '../support/console/traffic.ts'
import { strangers, type Watched, watchedVisit } from '../support/console/watched-visit.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

/** Every fifth: a text that these have not is in others. */
const thinned = <T>(rows: readonly T[]): T[] => rows.filter((_, i) => i % 5 === 0)

/** A few that say much in an address. */
const inAddress = [0, 3, 13, 23, 30, 34, 40, 46, 51, 62].map((i) => hostileTexts[i]!)

if (chromiumPath === undefined) {
  console.error('left out: harmful texts in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('harmful texts in the console', () => {
    let upstream: HostileUpstream
    let gateway: TestGateway
    let browser: Browser
    let it: Watched
    let quiet: () => Promise<void>

    beforeAll(async () => {
      upstream = startHostileUpstream()
      gateway = await startGateway({
        config: harmConfig(upstream.url),
        env: {
          GATEWAY_SANDBOX: 'on',
          GATEWAY_SANDBOX_TASK_SECONDS: '0.2',
          GATEWAY_EGRESS_ALLOW: '127.0.0.1/32',
        },
      })
      browser = await openBrowser()
      it = await watchedVisit(browser, gateway.url)
      quiet = watchTraffic(it.page)
      await setUp(it.page, gateway.output())
      await fillWithHarm(gateway, `${upstream.url}/told`)
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    const expectCalm = async (where: string) => {
      expect([where, it.incidents, await strangers(it.page)]).toEqual([where, [], []])
    }
    // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
    const all = async (path: string): Promise<any[]> => {
      const rows = []
      let cursor = ''
      do {
        const { body } = await gateway.admin('GET', `${path}?limit=500${cursor}`)
        rows.push(...body.items)
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
      } while (cursor !== '')
      return rows
    }

    test('do nothing on any page', async () => {
      const { page } = it
      const links = await page
        .locator('nav a')
        .evaluateAll((found) => found.map((each) => each.getAttribute('href') ?? ''))
      expect(links.length).toBeGreaterThan(10)
      for (const path of [...links, '/console/tasks?view=gallery']) {
        await goTo(page, path)
        await headed(page)
        await quiet()
        if (path.endsWith('gallery')) await shoot(page, 'harm-gallery')
        await expectCalm(path)
      }
    })

    test('are read in the sheets of tasks and requests, word for word', async () => {
      const made = await all('/tasks')
      // Those that failed have a text in every field.
      const failed = made.filter(({ error }) => error !== null)
      const rest = made.filter(({ error }) => error === null)
      const tasks: Shown[] = [...failed, ...thinned(rest)].map((task) => ({
        open: task.id,
        texts: [
          task.request.prompt,
          task.upstream_id,
          task.external_id,
          task.error?.message,
          task.callback?.url,
          ...task.request.inputs.map(({ url }: { url: string }) => url),
          ...Object.keys(task.usage_reported ?? {}).map((key) => JSON.stringify(key)),
        ],
      }))
      expect(tasks.length).toBeGreaterThan(hostileTexts.length)
      expect(await missingFromSheets(it.page, '/console/tasks', tasks)).toEqual([])
      await expectCalm('tasks')
      const requests: Shown[] = thinned(await all('/requests')).map((request) => ({
        open: request.request_id,
        texts: [
          request.model,
          request.error,
          request.upstream_request_id,
          ...request.attempts.map(({ error }: { error?: string }) => error),
          ...Object.keys(request.usage_reported ?? {}).map((key) => JSON.stringify(key)),
        ],
      }))
      expect(requests.length).toBeGreaterThan(50)
      expect(await missingFromSheets(it.page, '/console/requests', requests)).toEqual([])
      await expectCalm('requests')
    })

    test('are read in the sheets of the audit log, tokens, channels and prices', async () => {
      const { page } = it
      const noted = (await all('/audit-log')).filter(({ after }) => after?.note !== undefined)
      expect(noted).toHaveLength(hostileTexts.length)
      const changes: Shown[] = thinned(noted).map(({ id, after }) => ({
        open: id,
        texts: [JSON.stringify(after.note)],
      }))
      expect(await missingFromSheets(page, '/console/audit-log', changes)).toEqual([])
      const tokens: Shown[] = (await all('/tokens')).map(({ id, name, account }) => ({
        open: id,
        texts: [name, account],
      }))
      expect(await missingFromSheets(page, '/console/tokens', tokens)).toEqual([])
      const channels: Shown[] = (await all('/channels')).map(({ id, name, protocols, models }) => ({
        open: id,
        // A name that is the same at the upstream stands there once.
        texts: [
          name,
          ...Object.values<string>(protocols),
          ...Object.values<string>(models).filter((upstream) => upstream !== '*'),
        ],
      }))
      expect(await missingFromSheets(page, '/console/channels', channels)).toEqual([])
      await page.goto('/console/channels')
      await page.getByRole('button', { name: 'Test all' }).click()
      await page
        .getByText(/^Failed/)
        .first()
        .waitFor()
      await expectCalm('sheets')
    })

    test('are no links, even if the gateway itself took them for addresses', async () => {
      const { page } = it
      const [task] = await all('/tasks')
      const { body } = await gateway.admin('GET', `/tasks/${task.id}`)
      const later = new Date(Date.now() + 3_600_000).toISOString()
      const links = [...hostileTexts.slice(30, 40), 'http://a.test//evil.test/a', 'http://[']
      const harmed = {
        ...body,
        request: {
          ...body.request,
          inputs: links.map((url) => ({ kind: 'image', role: null, url })),
        },
        files: links.flatMap((url) => [
          { kind: 'image', url, expires_at: later },
          { kind: 'video', url, expires_at: later },
        ]),
      }
      const place = `**/admin/v1/tasks/${task.id}`
      await page.route(place, (route) => route.fulfill({ json: harmed }))
      await page.goto(`/console/tasks?open=${task.id}`)
      await page.getByRole('dialog').getByText('vbscript').waitFor()
      await quiet()
      await expectCalm('links')
      await page.unroute(place)
    })

    test('are not run out of an address', async () => {
      const { page } = it
      const places = [
        (text: string) => `/console/requests?open=${text}&model=${text}&status=${text}#${text}`,
        (text: string) => `/console/tasks?open=${text}&state=${text}&view=${text}`,
        (text: string) => `/console/playground?try=${text}&task=${text}`,
        (text: string) => `/console/bills?account=${text}&open=2026-01%20${text}&tab=${text}`,
        (text: string) => `/console/${text}`,
      ]
      for (const [i, text] of inAddress.entries()) {
        const place = places[i % places.length]!
        await page.goto(place(encodeURIComponent(text)))
        await quiet()
        await expectCalm(place(text))
      }
    })

    test('are read in the playground, as answers and as errors', async () => {
      const { page } = it
      for (const [i, input] of [
        [3, 'case 3 say'],
        [23, 'case 23'],
      ] as const) {
        await page.goto('/console/playground?try=Chat&as=json&model=txta-plus')
        const body = { messages: [{ role: 'user', content: input }] }
        await page.getByRole('textbox', { name: 'JSON' }).fill(JSON.stringify(body))
        await page.getByRole('button', { name: /^Send/ }).click()
        await page.getByText(hostileTexts[i]!).first().waitFor()
        await page.getByRole('tab', { name: 'Raw' }).click()
        await expectCalm(input)
        await page.goto('/console/playground?try=Chat&model=txta-plus')
        await page.getByLabel('Prompt').fill(input)
        await page.getByRole('button', { name: /^Send/ }).click()
        await page.getByText(hostileTexts[i]!).first().waitFor()
        await page.getByRole('button', { name: 'Details' }).click()
        await expectCalm(input)
        await page.getByRole('button', { name: 'New conversation' }).click()
      }
    })

    test('are no names', async () => {
      const names = hostileTexts.filter((text) => !/^\w+$/.test(text))
      for (const name of names.slice(0, 40)) {
        const token = { account: 'acme', name }
        const channel = { name, keys: ['k'], protocols: { chat: upstream.url }, models: { a: '*' } }
        const person = { name, role: 'finance', password: 'a long enough password' }
        for (const [path, body] of [
          ['/tokens', token],
          ['/accounts', { name }],
          ['/channels', channel],
          ['/people', person],
        ] as const) {
          expect([path, name, (await gateway.admin('POST', path, body)).status]).toEqual([
            path,
            name,
            400,
          ])
        }
      }
      const answer = await fetch(`${gateway.url}/v1/models/${encodeURIComponent(names[0]!)}`, {
        headers: { authorization: `Bearer ${apiToken}` },
      })
      expect(answer.headers.get('content-type')).toBe('application/json')
    })

    test('have caused nothing by the end', () => {
      // Refused calls and files that are no files are as they should be; the rest would be a crash.
      const expected = /^Failed to load resource: the server responded/
      expect(it.complaints.filter((text) => !expected.test(text))).toEqual([])
    })
  })
}

// What people do every day in the console, with the mouse and in both languages: the first visit, a
// first chat, a new channel, why a request failed, a stuck task, failed callbacks. And channels that are
// down: told by the API, by an alert and on the page.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  shoot,
  signIn,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const limitMs = 60_000

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
    let receiver: TestUpstream
    let browser: Browser
    let it: Visit
    let isKeyGood = false
    let receiverStatus = 500

    beforeAll(async () => {
      upstream = startUpstream(({ path }) =>
        isKeyGood || path.startsWith('/live/')
          ? jsonReply(completion({ prompt_tokens: 5, completion_tokens: 3 }))
          : jsonReply(
              { error: { message: 'Incorrect API key', code: 'invalid_api_key' } },
              { status: 401 },
            ),
      )
      receiver = startUpstream(() => new Response(null, { status: receiverStatus }))
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
    }, limitMs)
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
      await receiver.stop()
    })

    test(
      'the first visit is led to the set-up and told where the link is',
      async () => {
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
      },
      limitMs,
    )

    test(
      'a channel whose key is rejected is down everywhere, until a call succeeds',
      async () => {
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
        await page.getByText("channel 'dead' is down: all its keys are rejected").waitFor()
        isKeyGood = true
        await page.goto('/console/channels')
        await button.click()
        await row.getByText(/^OK/).waitFor()
        await row.getByText('Good').waitFor()
        await until(
          'the end of the alert',
          async () => !(await openAlert('channel_down')) || undefined,
        )
      },
      limitMs,
    )

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

    for (const language of ['en', 'zh'] as const) {
      const w = (en: string, zh: string): string => (language === 'en' ? en : zh)

      test(
        `everyday tasks are done with the mouse, ${language}`,
        async () => {
          receiverStatus = 500
          const { page, context, complaints } = await visit(browser, gateway.url, {
            language,
            width: 1440,
          })
          await signIn(page)
          const open = async (name: string) => {
            await page.locator('nav').getByRole('link', { name, exact: true }).click()
            await page.getByRole('heading', { level: 1 }).waitFor()
          }
          await firstChat(page, open)
          await newChannel(page, open)
          await whyFailed(page, open)
          await stuckTask(page, open)
          await failedCallback(page, open)
          expect(complaints.filter((text) => !text.includes('the server responded'))).toEqual([])
          await context.close()
        },
        limitMs,
      )

      type Open = (name: string) => Promise<void>

      async function firstChat(page: Page, open: Open): Promise<void> {
        await open(w('Playground', '调试台'))
        await page.getByRole('button', { name: new RegExp(`^${w('Send', '发送')}`) }).click()
        await page.getByText(new RegExp(`^${w('Cost: ', '(费用|消费)：')}`)).waitFor()
      }

      async function newChannel(page: Page, open: Open): Promise<void> {
        await open(w('Channels', '渠道'))
        await page.getByRole('button', { name: w('New channel', '新建渠道') }).click()
        const dialog = page.getByRole('dialog', { name: w('New channel', '新建渠道') })
        await dialog
          .getByRole('radio', { name: w('Text (chat completions)', '文本（chat）') })
          .check()
        const next = (name: string) => dialog.getByRole('button', { name }).click()
        await next(w('Next', '下一步'))
        await dialog.getByLabel(w('Name', '名称')).fill(`mine-${language}`)
        await dialog.getByLabel(w('Base URL', '基础地址')).fill(upstream.url)
        await dialog.getByLabel(w('Keys', '密钥')).fill('upk-0123456789abcdef')
        isKeyGood = false
        await next(w('Run test', '开始测试'))
        await dialog.getByText('Incorrect API key').waitFor()
        // The step is marked as failed, not ticked off.
        await dialog.getByRole('button', { name: w('Next', '下一步') }).click()
        await dialog
          .getByRole('button', { name: new RegExp(`${w('Test', '测试')}.*${w('Failed', '失败')}`) })
          .waitFor()
        await next(w('Back', '上一步'))
        await next(w('Back', '上一步'))
        isKeyGood = true
        await next(w('Run test', '开始测试'))
        await dialog.getByText(new RegExp(`^${w('OK, ', '可用，')}`)).waitFor()
        await next(w('Next', '下一步'))
        await next(w('Activate', '启用'))
        await next(w('Done', '完成'))
        await page.getByRole('row', { name: new RegExp(`mine-${language}`) }).waitFor()
        await gateway.admin('DELETE', `/channels/mine-${language}`)
      }

      async function whyFailed(page: Page, open: Open): Promise<void> {
        await (await gateway.chat(`[[sim:status=500]]`)).text()
        await open(w('Requests', '请求'))
        await page
          .getByRole('row', { name: /\b502\b/ })
          .first()
          .click()
        const drawer = page.getByRole('dialog')
        await drawer
          .getByText(/told to answer 500/)
          .first()
          .waitFor()
        for (const name of ['test', 'sandbox']) {
          await drawer.getByRole('link', { name, exact: true }).waitFor()
        }
        await drawer.getByRole('link', { name: 'sandbox', exact: true }).click()
        await page.getByRole('dialog', { name: 'sandbox' }).waitFor()
        await close(page)
      }

      const close = (page: Page) =>
        page
          .getByRole('button', { name: w('Close', '关闭'), exact: true })
          .first()
          .click()

      async function stuckTask(page: Page, open: Open): Promise<void> {
        const stuck = await video(`stuck ${language} [[sim:delay=90s]]`)
        await open(w('Tasks', '任务'))
        await page.getByRole('row', { name: new RegExp(`stuck ${language}`) }).click()
        const cancel = page.getByRole('button', { name: w('Cancel task', '取消任务') })
        await cancel.click()
        const dialog = page.getByRole('dialog', { name: w('Cancel task', '取消任务') })
        await dialog.waitFor()
        await dialog.getByRole('button', { name: w('Cancel task', '取消任务') }).click()
        await until('the task to be cancelled', async () => {
          return (
            (await gateway.admin('GET', `/tasks/${stuck}`)).body.state === 'cancelled' || undefined
          )
        })
        await close(page)
      }

      async function failedCallback(page: Page, open: Open): Promise<void> {
        const body = {
          model_name: 'imgvendor-v2',
          prompt: `told ${language}`,
          callback_url: `${receiver.url}/hook`,
        }
        const made = (await (
          await gateway.post('/imgvendor/v1/images/generations', body)
        ).json()) as { data: { task_id: string } }
        const task = () => gateway.admin('GET', `/tasks/${made.data.task_id}`)
        await until('a failed attempt', async () => {
          return (await task()).body.callback?.attempts.length > 0 || undefined
        })
        await open(w('Health', '健康状况'))
        await page.getByRole('link', { name: new RegExp(`^${w('Callbacks', '回调')}: 1`) }).click()
        await page.getByRole('row', { name: new RegExp(`told ${language}`) }).click()
        const drawer = page.getByRole('dialog')
        await drawer.getByRole('cell', { name: '500' }).first().waitFor()
        receiverStatus = 204
        await drawer.getByRole('button', { name: w('Resend', '重新发送') }).click()
        // Without a reload.
        await drawer.getByRole('cell', { name: '204' }).waitFor()
        const { body: found } = await gateway.admin('GET', '/tasks?callback=failed')
        expect(found.items).toEqual([])
      }
    }

    const video = async (prompt: string): Promise<string> => {
      const input = { model: 'vfa-2.7-t2v', prompt, seconds: 5, resolution: '720p' }
      return ((await (await gateway.post('/v1/videos', input)).json()) as { id: string }).id
    }

    test(
      'a task that cannot be cancelled says so beforehand',
      async () => {
        const { page } = it
        const body = { instances: [{ prompt: 'slow [[sim:delay=90s]]' }] }
        const path = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'
        const { name } = (await (await gateway.post(path, body)).json()) as { name: string }
        const id = `video_${name.split('/').at(-1)}`
        expect((await gateway.admin('GET', `/tasks/${id}`)).body.cancel_problem).toBe(
          'upstream_cannot',
        )
        await page.goto(`/console/tasks?open=${id}`)
        await page
          .getByText('It cannot be cancelled: this upstream does not cancel tasks.')
          .waitFor()
        expect(await page.getByRole('button', { name: 'Cancel task' }).isDisabled()).toBe(true)
      },
      limitMs,
    )
  })
}

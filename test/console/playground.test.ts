// The overview and the playground as people use them: cards that lead to what is behind them, two
// models side by side, requests kept and shared, the knobs of the sandbox, vectors, and who sends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator } from 'playwright-core'
import { sampleLines } from '../../console/pages/playground/batch/lines.ts'
import { isStyle } from '../../console/pages/playground/chat/styles/index.ts'
import { endpoints } from '../../console/pages/playground/request/endpoints.ts'
import {
  chromiumPath,
  goTo,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  untilPage,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { headed, watchTraffic } from '../support/console/traffic.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

/** One pixel. */
const picture = {
  name: 'pixel.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
}

if (chromiumPath === undefined) {
  console.error('left out: overview and playground (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('overview and playground', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit

    beforeAll(async () => {
      gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '1' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
      const image = { model: 'imga-plus', prompt: 'a lighthouse', n: 2 }
      const video = { model: 'vfa-2.7-t2v', prompt: 'slow [[sim:delay=60s]]', seconds: 5 }
      const sent = [
        gateway.chat('a'),
        gateway.chat('b', { model: 'txta-turbo' }),
        gateway.chat('[[sim:status=400]]'),
        gateway.post('/v1/images/generations', image),
        gateway.post('/v1/videos', video),
      ]
      for (const answer of await Promise.all(sent)) await answer.text()
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const send = () => it.page.keyboard.press('Control+Enter')
    const prompt = (page = it.page) => page.getByLabel('Prompt')

    test('the overview says what is earned and spent, by whom and with what, and a bar filters it', async () => {
      const { page } = it
      const cost = { channel: 'sandbox', model: 'txta-turbo', unit: 'token' }
      const per_million = { input: '0.10', output: '0.20' }
      await gateway.admin('POST', '/costs', { ...cost, per_million })
      await (await gateway.chat('with a cost', { model: 'txta-turbo' })).text()
      await goTo(page, '/console/?range=week')
      const figure = (name: RegExp) => page.locator('main').getByRole('link', { name })
      await figure(/^Requests\s*[1-9]/).waitFor()
      await figure(/Margin, at most/).waitFor()
      await page.getByText(/^The cost of \d+ of \d+ charges is not known/).waitFor()
      const row = (table: string, name: RegExp) =>
        page.getByRole('table', { name: table }).getByRole('row', { name })
      await row('Top accounts', /acme.*new.*≤/).waitFor()
      await row('Top models', /imga-plus.*new/).waitFor()
      await row('Channels', /sandbox.*%/).waitFor()
      await page.getByRole('img', { name: /^Latency/ }).waitFor()
      // Tall, so that all of it is in the picture.
      await page.setViewportSize({ width: 1280, height: 1600 })
      await shoot(page, 'overview-week')
      expect(await seriousFindings(page)).toEqual([])
      const charges = figure(/^Charges/)
      expect(await charges.getAttribute('href')).toBe('/console/usage?days=7')
      const whole = await charges.textContent()
      const chart = page.getByRole('img', { name: /^Cost and margin over time/ }).locator('canvas')
      const { width = 0, height = 0 } = (await chart.boundingBox()) ?? {}
      const click = (x: number) => chart.click({ position: { x, y: height / 2 }, force: true })
      await click(width * 0.35)
      await page.getByRole('button', { name: 'Show all' }).waitFor()
      await page.waitForURL(/at=day/)
      await page.getByText('No charges in this period.').first().waitFor()
      expect(await charges.textContent()).not.toBe(whole)
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: 'Show all' }).click()
      await row('Top models', /imga-plus/).waitFor()
      await figure(/^Success rate\s*8/).click()
      await page.waitForURL(/requests\?from=.*&to=/)
      await page.locator('[role=row][data-clickable]').first().waitFor()
    })

    test('what every interface has to begin with can be sent, and ends well', async () => {
      const { page, context, complaints } = await visit(browser, gateway.url, { width: 1440 })
      await signIn(page)
      await page.goto('/console/playground')
      const tabs = page.getByRole('tablist').first().getByRole('tab')
      await tabs.nth(8).waitFor()
      const sound = await gateway.post('/v1/audio/speech', {
        ...{ model: 'ttsa-plus', voice: 'alloy', input: 'Hello!', response_format: 'wav' },
      })
      const buffer = Buffer.from(await sound.arrayBuffer())
      for (const { title, takesFile } of endpoints) {
        await goTo(page, `/console/playground?try=${encodeURIComponent(title)}`)
        if (takesFile) {
          const file = { name: 'hello.wav', mimeType: 'audio/wav', buffer }
          await page.locator('input[type=file]').first().setInputFiles(file)
        } else if (isStyle(title.toLowerCase())) await prompt(page).fill(`Hello, ${title}`)
        const button = page.getByRole('button', { name: /^Send/ })
        await button.click()
        // The cost comes when the call, or the task that it made, has ended.
        const ended = page.getByText(/^Cost: /).or(page.getByRole('alert'))
        await ended
          .first()
          .waitFor()
          .catch(async () => {
            throw new Error(`no cost in ${title}: ${await page.getByRole('main').textContent()}`)
          })
        expect([title, await page.getByRole('alert').allTextContents()]).toEqual([title, []])
        expect([title, (await page.getByText(/^Cost: \d/).count()) > 0]).toEqual([title, true])
      }
      await page.getByText('Flagged', { exact: true }).waitFor()
      // A row that is asked for before it is written is 404.
      expect(complaints.filter((text) => !text.includes('the server responded'))).toEqual([])
      await context.close()
    })

    test('what is typed stays when the tab or the page changes, and Send is in sight', async () => {
      for (const [width, height] of [
        [1440, 900],
        [390, 844],
      ] as const) {
        const { page, context } = await visit(browser, gateway.url, { width })
        await page.setViewportSize({ width, height })
        await signIn(page)
        await goTo(page, '/console/playground')
        await page.getByLabel('Prompt').fill('Kept while I look elsewhere')
        const send = page.getByRole('button', { name: /^Send/ })
        expect(await isInSight(send)).toBe(true)
        await page.getByRole('tab', { name: 'Video', exact: true }).click()
        await page.getByRole('combobox', { name: 'Interface' }).waitFor()
        await page.getByLabel('Prompt').fill('A boat')
        expect(await isInSight(send)).toBe(true)
        await page.getByRole('tab', { name: 'Chat', exact: true }).click()
        expect(await page.getByLabel('Prompt').inputValue()).toBe('Kept while I look elsewhere')
        await goTo(page, '/console/tasks')
        await headed(page)
        await goTo(page, '/console/playground?try=Video')
        expect(await page.getByLabel('Prompt').inputValue()).toBe('A boat')
        await goTo(page, '/console/tokens')
        await headed(page)
        await goTo(page, '/console/playground')
        await page.getByRole('tab', { name: 'Video', selected: true }).waitFor()
        await context.close()
      }
    })

    const isInSight = async (button: Locator): Promise<boolean> => {
      const { x = 0, y = 0, height = 0 } = (await button.boundingBox()) ?? {}
      const at = `document.elementFromPoint(${x + 4}, ${y + height / 2})`
      return button
        .page()
        .evaluate<boolean>(`${y + height} <= innerHeight && ${at}?.closest('button') !== null`)
    }

    test('two models answer the same, side by side, and the sandbox does as it is told', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Chat')
      await page.getByLabel('System instructions').fill('Be brief.')
      await prompt().fill('Which is better?')
      await page.locator('summary', { hasText: 'Sandbox' }).click()
      await page.getByLabel('Output tokens', { exact: true }).fill('12')
      await page.getByLabel('Delay (s)').fill('0.2')
      expect(await prompt().inputValue()).toBe(
        'Which is better? [[sim:delay=200ms]] [[sim:tokens=12]]',
      )
      await page.getByRole('switch', { name: 'Compare two models' }).click()
      await prompt().focus()
      await send()
      await page
        .getByText(/^Cost: 0\.0/)
        .nth(1)
        .waitFor()
      const names = await page.getByRole('heading', { level: 2 }).allTextContents()
      expect(new Set(names).size).toBe(2)
      const answers = page.locator('article[data-role=assistant]')
      const said = await answers.evaluateAll((all) => all.map((each) => each.ariaLabel ?? ''))
      expect(said).toEqual(names)
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'playground-compared')
      await prompt().fill('And now?')
      await page.getByRole('combobox', { name: 'Failure' }).click()
      await page.getByRole('option', { name: 'Rate limited (429)' }).click()
      await send()
      await page.getByText('429', { exact: true }).nth(1).waitFor()
      expect(await page.getByText('429', { exact: true }).count()).toBe(2)
      await page.getByRole('switch', { name: 'Compare two models' }).uncheck()
      await page.getByRole('button', { name: 'New conversation' }).click()
    })

    test('a function is called, its result given, and the conversation goes on, with an image', async () => {
      const { page } = it
      const asked: Record<string, unknown>[] = []
      page.on('request', (request) => {
        if (request.url().endsWith('/v1/messages')) asked.push(request.postDataJSON())
      })
      await goTo(page, '/console/playground?try=Messages')
      await page.getByRole('button', { name: 'Presets' }).click()
      await page.getByRole('menuitem', { name: 'Sample: function call' }).click()
      await prompt().fill('What is the weather? [[sim:tool]]')
      await page.locator('input[type=file]').setInputFiles(picture)
      await page.getByRole('img', { name: 'Image 1' }).waitFor()
      await send()
      await page.getByLabel('Result of get_weather').fill('clear')
      await page.getByRole('button', { name: 'Send results' }).click()
      await page
        .getByText(/^Cost: 0\.0/)
        .nth(1)
        .waitFor()
      const sent = JSON.stringify(asked.at(-1))
      expect(sent).toContain('"type":"tool_result"')
      expect(sent).toContain('"media_type":"image/png"')
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: 'Code', exact: true }).click()
      const code = page.getByRole('dialog', { name: 'Code' })
      await code.getByText('YOUR_TOKEN').first().waitFor()
      await code.getByRole('switch', { name: 'With the token' }).click()
      await code
        .getByText(/Bearer sk-\w+/)
        .first()
        .waitFor()
      expect(await code.getByRole('tab').allTextContents()).toEqual([
        ...['curl', 'Node', 'Python', 'Go', 'Java', 'PHP'],
      ])
      // What is copied is sent, with its tools, its image and the token.
      const sentByCurl = (await code.getByLabel('curl', { exact: true }).last().textContent()) ?? ''
      const ran = Bun.spawnSync(['sh', '-c', sentByCurl]).stdout.toString()
      expect(sentByCurl).toContain('tool_result')
      expect(ran).toContain('message_stop')
      await page.keyboard.press('Escape')
      await code.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByText(/^(Link copied|The address of this page)/).waitFor()
      const carried = Buffer.from(new URL(page.url()).hash.slice(9), 'base64url').toString()
      expect(carried).toContain('get_weather')
      expect(carried).not.toMatch(/sk-|base64/)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      expect(await prompt().inputValue()).toBe('What is the weather? [[sim:tool]]')
      expect(await page.getByRole('article').count()).toBe(0)
    })

    test('a link to the log, and back to the conversation as it was', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Chat')
      await prompt().fill('Remember me [[sim:tokens=5]]')
      await send()
      await page.getByRole('link', { name: 'Open request' }).click()
      await page.getByRole('dialog').getByText('Price version').waitFor()
      await goTo(page, '/console/playground')
      await page.getByText('Remember me [[sim:tokens=5]]').waitFor()
    })

    test('a file of calls is checked, run to its end, and its results are downloaded', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Batch')
      const file = (text: string) => ({
        ...{ name: 'in.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(text) },
      })
      await page.getByRole('button', { name: 'Use a sample' }).waitFor()
      const input = page.locator('input[type=file]')
      await input.setInputFiles(file('{"custom_id":"a"}\nno json'))
      await page.getByText('Line 2: not a JSON object').waitFor()
      expect(await page.getByRole('button', { name: 'Start batch' }).isEnabled()).toBe(false)
      await input.setInputFiles(file(sampleLines('txta-plus')))
      await page.getByText(/^3 lines for /).waitFor()
      await page.getByRole('button', { name: 'Start batch' }).click()
      await page.getByText('3 of 3 lines done, 0 failed').waitFor()
      const button = page.getByRole('button', { name: 'Download results' })
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      const lines = (await Bun.file(await download.path()).text()).trim().split('\n')
      expect(lines.map((line) => JSON.parse(line).custom_id).toSorted()).toEqual([
        ...['blue', 'green', 'red'],
      ])
      await page.getByText(/^Cost: 0\.0/).waitFor()
      expect(await seriousFindings(page)).toEqual([])
    })

    test('speech is played, and what was said comes back from its file', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Speech')
      await page.getByRole('combobox', { name: 'Format' }).click()
      await page.getByRole('option', { name: 'wav' }).click()
      await send()
      await page.locator('audio').waitFor()
      await untilPage(page, '(document.querySelector("audio")?.duration ?? 0) > 0.1')
      const button = page.getByRole('button', { name: 'Download', exact: true })
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      expect(download.suggestedFilename()).toBe('speech.wav')
      const path = await download.path()
      await goTo(page, '/console/playground?try=Transcription')
      expect(await page.getByRole('button', { name: /^Send/ }).isEnabled()).toBe(false)
      await page.locator('input[type=file]').setInputFiles({
        ...{ name: 'speech.wav', mimeType: 'audio/wav' },
        buffer: Buffer.from(await Bun.file(path).arrayBuffer()),
      })
      await send()
      await page
        .getByText(/The sandbox has heard/)
        .first()
        .waitFor()
      expect(await seriousFindings(page)).toEqual([])
    })

    test('Esc stops an answer that takes too long', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Messages')
      await prompt().fill('Slowly [[sim:tokens=100]] [[sim:chunk=300ms]]')
      await send()
      await page.locator('article[data-role=assistant]').last().getByText(/\w/).last().waitFor()
      await page.keyboard.press('Escape')
      await page.getByText(/^Stopped\./).waitFor()
      await page.getByRole('button', { name: 'New conversation' }).click()
    })

    test('a request is kept under a name, and a link carries it without a token', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Responses')
      await prompt().fill('Kept for later: 你好')
      await page.getByRole('button', { name: 'Presets' }).click()
      await page.getByRole('menuitem', { name: 'Save request' }).click()
      await page.getByRole('textbox', { name: 'Preset name' }).fill('for later')
      await page.keyboard.press('Enter')
      await page.getByText('Saved in this browser.').waitFor()
      await page.goto('/console/playground')
      await page.getByRole('button', { name: 'Presets' }).click()
      await page.getByRole('menuitem', { name: /^for later/ }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('menuitem', { name: /^for later/ }).click()
      await page.waitForURL(/#request=/)
      expect(await prompt().inputValue()).toBe('Kept for later: 你好')
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByText(/^(Link copied|The address of this page)/).waitFor()
      const link = new URL(page.url())
      const carried = Buffer.from(link.hash.slice('#request='.length), 'base64url').toString()
      const { title, ...rest } = JSON.parse(carried)
      expect(title).toBe('Responses')
      expect(Object.keys(rest).toSorted()).toEqual(['isConversation', 'model', 'text'])
      expect(carried).not.toContain('sk-')
      const other = await visit(browser, gateway.url, { language: 'zh', theme: 'dark', width: 390 })
      await signIn(other.page)
      await other.page.goto(link.pathname + link.hash)
      await other.page.getByRole('tab', { name: '对话', selected: true }).waitFor()
      expect(await other.page.getByLabel('提示词').inputValue()).toBe('Kept for later: 你好')
      await polls(other)
      await other.context.close()
    })

    /** On a phone, in Chinese and in the dark. */
    async function polls({ page, complaints }: Visit): Promise<void> {
      const quiet = watchTraffic(page)
      for (const [path, name] of [
        ['/console/playground', 'playground-zh-phone'],
        ['/console/?range=month', 'overview-zh-phone'],
      ] as const) {
        await goTo(page, path)
        await headed(page)
        await quiet()
        await shoot(page, name)
        expect([path, await seriousFindings(page)]).toEqual([path, []])
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect([path, wide <= 390]).toEqual([path, true])
      }
      expect(complaints).toEqual([])
    }

    test('vectors are compared, also equal ones', async () => {
      const { page } = it
      await goTo(page, '/console/playground?try=Embeddings')
      await page.getByLabel('Texts, one per line').fill('a cat\na cat\na bill')
      await send()
      await page.getByRole('rowheader', { name: '3 a bill' }).waitFor()
      const cells = await page
        .getByRole('row', { name: /^2 a cat/ })
        .getByRole('cell')
        .allTextContents()
      expect(cells.slice(1, 3)).toEqual(['1.000', '1.000'])
      expect(cells[0]).toMatch(/^\d+\.\d{4}$/)
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'playground-vectors')
    })

    test('a call is sent with the rights of a token, or with a secret one has', async () => {
      const { page } = it
      const narrow = { account: 'acme', name: 'narrow', models: ['txta-turbo'] }
      const { body: made } = await gateway.admin('POST', '/tokens', narrow)
      await page.goto('/console/playground?model=txta-plus')
      const as = async (name: string) => {
        await page.getByRole('combobox', { name: 'Send as' }).click()
        await page.getByRole('option', { name }).click()
      }
      await prompt().fill('Hello')
      await as('Same rights as narrow')
      await send()
      await page
        .getByRole('alert')
        .getByText(/txta-plus/)
        .waitFor()
      await prompt().fill('Hello')
      await as('My own token')
      await page.getByLabel('Secret', { exact: true }).fill(made.token)
      const [sent] = await Promise.all([page.waitForRequest('**/chat/completions'), send()])
      expect(sent.headers()['authorization']).toBe(`Bearer ${made.token}`)
      const again = page.getByRole('button', { name: 'Try again' })
      await again.waitFor()
      await as('Temporary token')
      await again.click()
      await page.getByText(/^Cost: 0\.0/).waitFor()
      expect(it.complaints.filter((text) => !text.includes('the server responded'))).toEqual([])
    })
  })
}

// A gateway on which the twelve tasks of people who use the console can be done, and a desk for each of them:
// signed in, on the first page, with their clicks counted.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { monthAt, monthPlus } from '../../../src/lib/text/month.ts'
import { openStore } from '../../../src/store/index.ts'
import { openPast } from '../data/past-months.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../gateway.ts'
import { type MailServerForTests, startMailServer } from '../mail-server.ts'
import { until } from '../read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../upstream.ts'
import { chromiumPath, openBrowser, password, setUp, signIn, type Visit, visit } from './browser.ts'
import { type Clicks, countClicks } from './clicks.ts'

export const lastMonth = monthPlus(monthAt(Date.now()), -1)
type Language = 'en' | 'zh'

const people = {
  ada: { role: 'administrator' },
  fin: { role: 'finance' },
  ops: { role: 'operator' },
  mel: { role: 'member', account: 'fjord' },
} as const
type Who = keyof typeof people

export interface World {
  gateway: TestGateway
  upstream: TestUpstream
  mails: MailServerForTests
  browser: Browser
  /** What the upstream does. */
  answers: { isUp: boolean; calls: number }
  /** Of a call through the upstream, and of one that failed. */
  request: string
  failed: string
  task: string
  stop(): Promise<void>
}

const config = `
accounts: [{ name: fjord, balance: "100.00" }]
tokens: [{ account: fjord, name: test, token: ${apiToken} }]
`

/** Two customers with a month that is over. */
async function pastData(): Promise<string> {
  const dataDir = tempDir()
  const store = await openStore({ dataDir })
  const past = [
    { month: lastMonth, kind: 'credit', amountNanos: 50_000_000_000n, note: 'wire' },
    {
      ...({ month: lastMonth, kind: 'charge', model: 'vfa-2.7-t2v' } as const),
      ...{ unit: 'video_second', tier: '720p', quantity: 5, amountNanos: -3_000_000_000n },
    },
  ] as const
  for (const name of ['lee', 'kim']) {
    const id = await openPast(store, name, past)
    const email = `${name}@books.example`
    await store.tx((tx) => tx.updateTable('accounts').set({ email }).where('id', '=', id).execute())
  }
  await store.close()
  return dataDir
}

function startAnswers(answers: World['answers']): TestUpstream {
  return startUpstream(({ path }) => {
    if (!answers.isUp) {
      return jsonReply({ error: { message: 'Incorrect API key provided' } }, { status: 401 })
    }
    if (path.endsWith('/models')) return jsonReply({ data: [] })
    answers.calls++
    return jsonReply(completion({ prompt_tokens: 500, completion_tokens: 300 }), {
      headers: { 'x-request-id': `up-${answers.calls}` },
    })
  })
}

async function expectMade(made: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await made
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

async function fill({ admin, chat, post }: TestGateway, upstream: string) {
  await expectMade(
    admin('PATCH', '/accounts/fjord', {
      ...{ display_name: 'Fjord Films AS', email: 'billing@fjord.example' },
      budget: { amount: '50.00', per: 'month' },
    }),
  )
  for (const [name, person] of Object.entries(people)) {
    if (name !== 'ada') await expectMade(admin('POST', '/people', { name, password, ...person }))
  }
  await expectMade(
    admin('POST', '/channels', {
      ...{ name: 'azure-backup', keys: ['upk-0123456789abcdef'], priority: 50 },
      ...{ protocols: { chat: `${upstream}/v1` }, models: { 'txta-plus': '*' } },
      cost_factor: '0.7',
    }),
  )
  const idOf = async (answer: Response): Promise<string> => {
    await answer.text()
    return answer.headers.get('x-gateway-request-id')!
  }
  const request = await idOf(await chat('hello'))
  const failed = await idOf(await chat('[[sim:status=500]]', { model: 'txta-turbo' }))
  const video = { model: 'vfa-2.7-t2v', prompt: 'a cat on a boat', seconds: 5, size: '1280x720' }
  const task = ((await (await post('/v1/videos', video)).json()) as { id: string }).id
  const ended = async () => (await admin('GET', `/tasks/${task}`)).body.finished_at ?? undefined
  await until('the task', ended)
  return { request, failed, task }
}

async function openWorld(): Promise<World> {
  const answers = { isUp: true, calls: 0 }
  const upstream = startAnswers(answers)
  const mails = await startMailServer({ hideSTARTTLS: true })
  const gateway = await startGateway({
    config,
    dataDir: await pastData(),
    env: {
      ...{ GATEWAY_SANDBOX: 'on', GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      GATEWAY_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      GATEWAY_SMTP_FROM: 'gateway@mail.example',
    },
  })
  const browser = await openBrowser()
  const { page, context } = await visit(browser, gateway.url)
  await setUp(page, gateway.output())
  await context.close()
  const made = await fill(gateway, upstream.url)
  return {
    ...{ gateway, upstream, mails, browser, answers, ...made },
    async stop() {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
      await mails.stop()
    },
  }
}

/** What a person does with: the words of their language, the page, and their hand. */
export interface Desk extends World {
  page: Page
  clicks: Clicks
  w(en: string, zh: string): string
  /** Presses what has this name. */
  press(name: string | RegExp, place?: Page | Locator): Promise<void>
  /** By the menu. */
  open(name: string): Promise<void>
  choose(label: string, option: string | RegExp, place?: Page | Locator): Promise<void>
  /** The dialog on top. */
  top(): Locator
}

interface Look {
  language: Language
  /** 390 pixels wide, without a mouse. */
  isPhone?: boolean
}

function handOf(page: Page): Pick<Desk, 'press' | 'open' | 'choose' | 'top'> {
  const press: Desk['press'] = (name, place = page) => {
    const exact = typeof name === 'string' && { exact: true }
    return place.getByRole('button', { name, ...exact }).click()
  }
  return {
    press,
    open: (name) => {
      // Alerts have their number beside their name.
      const entry = new RegExp(`^${name}( \\d+\\+?)?$`)
      return page.locator('nav').getByRole('link', { name: entry }).click()
    },
    async choose(label, option, place = page) {
      await place.getByRole('combobox', { name: label }).click()
      const exact = typeof option === 'string' && { exact: true }
      await page.getByRole('option', { name: option, ...exact }).click()
    },
    top: () => page.getByRole('dialog').last(),
  }
}

interface Seat {
  desk: Desk
  visit: Visit
}

/** Signed in, on the first page. */
async function sitDown(world: World, who: Who, look: Look): Promise<Seat> {
  const { language, isPhone = false } = look
  const width = isPhone ? 390 : 1440
  const it = await visit(world.browser, world.gateway.url, { language, width })
  const { page, context } = it
  const clicks = await countClicks(context)
  await signIn(page, who)
  const w = (en: string, zh: string): string => (language === 'en' ? en : zh)
  return { desk: { ...world, page, clicks, w, ...handOf(page) }, visit: it }
}

/** With the mouse alone: opens the search, pastes and picks. */
export async function find({ page, w, press }: Desk, text: string): Promise<void> {
  const search = new RegExp(`^${w('Search or paste an ID', '搜索，或粘贴任意 ID')}`)
  await press(search, page.locator('nav'))
  await page.getByRole('dialog').getByRole('textbox').fill(text)
  const hit = page.getByRole('option', { name: new RegExp(text.slice(0, 12)) })
  await hit.first().click()
}

export interface Task {
  name: string
  who: Who
  /** That it may take from the first page on. */
  clicks: number
  isPhone?: true
  /** Before the person sits down. */
  before?: (world: World) => Promise<void>
  work: (desk: Desk) => Promise<void>
}

const limitMs = 120_000

/** One after the other: later ones meet what earlier ones did. */
export function runTasks(title: string, tasks: readonly Task[]): void {
  if (chromiumPath === undefined) {
    console.error(`left out: ${title} (install Chromium, or set TEST_CHROMIUM)`)
    return
  }
  describe.each(['en', 'zh'] as const)(`${title}, in %s`, (language) => {
    let world: World
    const seats = new Map<string, Seat>()

    const seatOf = async ({ who, isPhone }: Task): Promise<Seat> => {
      const name = `${who} ${isPhone}`
      const look = { language, ...(isPhone && { isPhone }) }
      const seat = seats.get(name) ?? (await sitDown(world, who, look))
      seats.set(name, seat)
      return seat
    }

    beforeAll(async () => {
      world = await openWorld()
    }, limitMs)
    afterAll(() => world.stop())

    for (const task of tasks) {
      test(
        task.name,
        async () => {
          await task.before?.(world)
          const { desk, visit } = await seatOf(task)
          await desk.page.goto('/console/')
          await desk.page.locator('main h1').waitFor()
          desk.clicks.reset()
          await task.work(desk)
          expect(desk.clicks.count()).toBeLessThanOrEqual(task.clicks)
          expect(visit.complaints).toEqual([])
        },
        limitMs,
      )
    }
  })
}

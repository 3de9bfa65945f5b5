// The upstream fault table over real HTTP: every row in every text style, as JSON and as a stream.
// What the caller sees, what it pays, what it must not learn, and that nothing stays open.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync } from 'node:fs'
import type { TestGateway } from '../support/gateway.ts'
import { listAll, until } from '../support/read.ts'
import { type Caller, openCaller } from './caller.ts'
import { checkOutcome, gather, type Outcome } from './check.ts'
import { canary, type Place, type Scene, wholeAnswer } from './fault.ts'
import { expired, foreign, local, unknown } from './identities.ts'
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { connectionRows } from './rows-connection.ts'
import { contentRows } from './rows-content.ts'
import { cutRows } from './rows-cut.ts'
import { statusRows } from './rows-status.ts'
import { good, styles } from './styles.ts'
import { type Case, casesOf, configOf, startTrusting, wellModel, wellToken } from './table.ts'

const cases = casesOf([...connectionRows, ...cutRows, ...statusRows, ...contentRows])
/** Cases under way at the same time. */
const width = 40
const outcomes = new Map<Case, PromiseWithResolvers<Outcome>>(
  cases.map((each) => [each, Promise.withResolvers<Outcome>()]),
)

const upstreams = new Map<string, RawUpstream>()
let upstream: RawUpstream
let trap: RawUpstream
let gateway: TestGateway
let baseSockets = 0
let places: string[] = []

/** Sockets only: threads come and go, and so do the files that they read. */
const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((name) => isSocket(`/proc/${pid}/fd/${name}`)).length

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    return false
  }
}

async function startUpstreams(): Promise<void> {
  const identities = { unknown, expired, foreign, local }
  for (const [name, identity] of Object.entries(identities)) {
    upstreams.set(name, await startRawUpstream(identity))
  }
  for (const name of ['raw', 'trap', 'mute']) upstreams.set(name, await startRawUpstream())
  const plain = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'
  upstreams.set('plain', await startRawUpstream(undefined, plain))
  upstream = upstreams.get('raw')!
  trap = upstreams.get('trap')!
  places = ['127.0.0.1', ...[...upstreams.values()].map(({ port }) => `:${port}`)]
}

function addressOf(place: Place | undefined): string {
  if (place === undefined) return `http://127.0.0.1:${upstream.port}`
  if (place === 'refused') return 'http://127.0.0.1:1'
  if (place === 'nameless') return 'http://nowhere.invalid'
  return `https://localhost:${upstreams.get(place)!.port}`
}

async function runCase(made: Case): Promise<Outcome> {
  const { fault, style, mode, model, token } = made
  const caller: Caller = await openCaller(gateway.url)
  const scene: Scene = {
    style,
    mode,
    model,
    received: caller.received,
    trap: `http://127.0.0.1:${trap.port}/v1`,
  }
  const asked = fault.at === undefined ? upstream : upstreams.get(fault.at)
  asked?.on(model, (wire) => fault.script?.(wire, scene))
  const isStream = mode === 'stream'
  const answer = await caller.post(style.path(model, isStream), token, style.ask(model, isStream))
  const { chat } = styles
  const next = await caller.post(chat.path(wellModel, false), wellToken, chat.ask(wellModel, false))
  caller.close()
  return gather(gateway, made, answer, next)
}

/** All cases, some at a time; each test waits for its own. */
async function runAll(): Promise<void> {
  const left = cases.values()
  const worker = async () => {
    for (const each of left) {
      const { promise, resolve, reject } = outcomes.get(each)!
      promise.catch(() => {})
      await runCase(each).then(resolve, reject)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
}

beforeAll(async () => {
  await startUpstreams()
  const well = { style: styles.chat, mode: 'json', model: wellModel } as Scene
  upstream.on(wellModel, (wire) => wire.send(wholeAnswer(well, good)))
  gateway = await startTrusting(configOf(cases, addressOf))
  baseSockets = socketsOf(gateway.pid)
  void runAll()
})

afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  for (const each of upstreams.values()) await each.stop()
})

describe('the fault', () => {
  test.each(cases.map((each): [string, Case] => [each.title, each]))('%s', async (_, made) => {
    checkOutcome(made, await outcomes.get(made)!.promise, places)
  })
})

describe('after all faults', () => {
  test('the books are right and nothing is held', async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
    const accounts = await listAll<{ name: string; held: string }>(gateway, '/accounts?limit=500')
    expect(accounts.length).toBe(cases.length + 1)
    expect(accounts.filter(({ held }) => held !== '0.00')).toEqual([])
  })

  test('every request went upstream at most once', () => {
    const times = new Map<string, number>()
    for (const { model } of upstream.asked) {
      if (model !== wellModel) times.set(model, (times.get(model) ?? 0) + 1)
    }
    expect([...times].filter(([, count]) => count > 1)).toEqual([])
  })

  test('nothing was sent to where a redirect led, nor to whoever could not prove its name', () => {
    for (const name of ['trap', 'unknown', 'expired', 'foreign', 'mute', 'plain']) {
      expect([name, upstreams.get(name)!.asked.length]).toEqual([name, 0])
    }
  })

  test('the log of the gateway names no key', () => {
    expect(gateway.output()).not.toContain(canary)
  })

  test('no socket is left open', async () => {
    const open = () => [...upstreams].map(([name, each]) => [name, each.openSockets()] as const)
    await until(
      'the sockets to be closed',
      () =>
        (open().every(([, count]) => count === 0) && socketsOf(gateway.pid) <= baseSockets) ||
        undefined,
    ).catch(() => {
      throw new Error(
        `open: ${open().join(' ')}; sockets ${socketsOf(gateway.pid)} > ${baseSockets}`,
      )
    })
  })
})

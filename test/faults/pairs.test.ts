// The upstream fault table for calls that are translated: every row at every upstream style, asked in every
// other style, as JSON and as a stream. Money is exact to the nano-unit.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import { listAll, nanos, type RequestRow, until } from '../support/read.ts'
import { type Answer, openCaller } from './caller.ts'
import { checkPair } from './check-pair.ts'
import { canary, type Place } from './fault.ts'
import { expired, foreign, local, unknown } from './identities.ts'
import { accounts, balance, type PairCase, pairCasesOf, pairConfig } from './pairs-table.ts'
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { connectionRows } from './rows-connection.ts'
import { contentRows } from './rows-content.ts'
import { cutRows } from './rows-cut.ts'
import { reasonRows } from './rows-reason.ts'
import { statusRows } from './rows-status.ts'
import { startTrusting } from './table.ts'

// Those that wait for a time limit come first, so that the others run beside them.
const rowsOf = [...connectionRows, ...cutRows, ...statusRows, ...contentRows, ...reasonRows]
const cases = pairCasesOf(rowsOf)
const width = 100
const answers = new Map<PairCase, PromiseWithResolvers<Answer>>(
  cases.map((each) => [each, Promise.withResolvers<Answer>()]),
)
const rows = Promise.withResolvers<Map<string, RequestRow>>()

const upstreams = new Map<string, RawUpstream>()
let upstream: RawUpstream
let trap: RawUpstream
let gateway: TestGateway
let places: string[] = []

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

async function runCase({ fault, style, caller, mode, model, token }: PairCase): Promise<Answer> {
  const asking = await openCaller(gateway.url)
  const asked = fault.at === undefined ? upstream : upstreams.get(fault.at)
  const received = asking.received
  const scene = { style, caller, mode, model, received, trap: `http://127.0.0.1:${trap.port}/v1` }
  asked?.on(model, (wire) => fault.script?.(wire, scene))
  const isStream = mode === 'stream'
  const answer = await asking.post(caller.path(model, isStream), token, caller.ask(model, isStream))
  asking.close()
  return answer
}

/** All cases, some at a time; then all rows of the request log at once. */
async function runAll(): Promise<void> {
  const left = cases.values()
  const worker = async () => {
    for (const each of left) {
      const { promise, resolve, reject } = answers.get(each)!
      promise.catch(() => {})
      await runCase(each).then(resolve, reject)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  await until('the rows of all calls', async () => {
    const found = await listAll<RequestRow>(gateway, '/requests?limit=500')
    if (found.length < cases.length) return undefined
    rows.resolve(new Map(found.map((row) => [row.request_id, row])))
    return true
  })
}

beforeAll(async () => {
  await startUpstreams()
  gateway = await startTrusting(pairConfig(cases, addressOf))
  runAll().catch(rows.reject)
})

afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  for (const each of upstreams.values()) await each.stop()
})

describe('the fault', () => {
  test.each(cases.map((each): [string, PairCase] => [each.title, each]))('%s', async (_, made) => {
    const answer = await answers.get(made)!.promise
    const row = (await rows.promise).get(answer.headers['x-request-id']!)
    checkPair(made, { answer, row: row! }, places)
  })
})

describe('after all faults', () => {
  test('every account has paid what its calls were charged, and nothing is held', async () => {
    const all = [...(await rows.promise).values()]
    expect(all.length).toBe(cases.length)
    const paid = new Map<string, bigint>()
    for (const { account_id: id, charge } of all) paid.set(id, (paid.get(id) ?? 0n) + nanos(charge))
    const found = await listAll<{ id: string; balance: string; held: string }>(gateway, '/accounts')
    expect(found.length).toBe(accounts.length)
    for (const { id, balance: left, held } of found) {
      expect([nanos(left), held]).toEqual([nanos(balance) - paid.get(id)!, '0.00'])
    }
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  test('every request went upstream at most once, and none to another place', () => {
    const asked = upstream.asked.map(({ model }) => model)
    expect(new Set(asked).size).toBe(asked.length)
    for (const name of ['trap', 'unknown', 'expired', 'foreign', 'mute', 'plain']) {
      expect([name, upstreams.get(name)!.asked.length]).toEqual([name, 0])
    }
    expect(gateway.output()).not.toContain(canary)
  })

  test('no connection to an upstream is left open', async () => {
    await until(
      'the connections to be closed',
      () => [...upstreams.values()].every((each) => each.openSockets() === 0) || undefined,
    )
  })
})

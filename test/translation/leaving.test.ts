// Callers of translated streams that leave or do not read: what was produced is charged as in their own
// style, connections to the upstream end, and nothing piles up in the gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openCaller } from '../faults/caller.ts'
import { canary, head, openStream } from '../faults/fault.ts'
import { type RawUpstream, startRawUpstream, type Wire } from '../faults/raw-upstream.ts'
import { costOf, good, goodTokens, type StyleName, streaming, styles } from '../faults/styles.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listAll, nanos, type RequestRow, until } from '../support/read.ts'

const token = 'sk-leave-0123456789abcdefghijklmn'

let upstream: RawUpstream
let gateway: TestGateway

const pairs = streaming.flatMap((caller) =>
  streaming.filter((over) => over !== caller).map((over) => [caller, over] as const),
)
const modelOf = (caller: StyleName, over: StyleName) => `${caller}-over-${over}`

beforeAll(async () => {
  upstream = await startRawUpstream()
  const address = `http://127.0.0.1:${upstream.port}`
  const names = pairs.map(([caller, over]) => modelOf(caller, over))
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token }],
      channels: pairs.map(([caller, over]) => ({
        name: modelOf(caller, over),
        keys: [canary],
        protocols: { [over]: address + styles[over].basePath },
        models: { [modelOf(caller, over)]: '*' },
      })),
      models: pairs.map(([caller, over]) => ({
        name: modelOf(caller, over),
        kind: 'text',
        interfaces: [over],
      })),
      prices: names.map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

/** The newest comes first. */
const rowsOf = (model: string) => listAll<RequestRow>(gateway, `/requests?model=${model}`)

/** Two calls over other connections: the gateway has met what happened on this one before them. */
async function seenToLeave(): Promise<void> {
  for (let i = 0; i < 2; i++) await fetch(`${gateway.url}/healthz`, { keepalive: false })
}

/** Reads the first of a stream and hangs up; then the upstream goes on. */
async function leave(caller: StyleName, over: StyleName, goOn: (wire: Wire) => unknown) {
  const model = modelOf(caller, over)
  const before = (await rowsOf(model)).length
  const asking = await openCaller(gateway.url)
  const hungUp = Promise.withResolvers<void>()
  let wire: Wire | undefined
  upstream.on(model, async (each) => {
    wire = each
    const events = styles[over].events(model, good)
    // Up to the first word.
    await each.send(openStream + events.slice(0, over === 'messages' ? 3 : 2).join(''))
    await hungUp.promise
    await goOn(each)
  })
  const { path, ask } = styles[caller]
  const answer = asking.post(path(model, true), token, ask(model, true))
  await until('the first words', () => asking.received().includes('Hello') || undefined)
  asking.close()
  await answer
  await seenToLeave()
  hungUp.resolve()
  const row = await until('the row', async () => {
    const rows = await rowsOf(model)
    return rows.length > before ? rows[0] : undefined
  })
  await until('the connection to end', () => wire?.gone || undefined)
  return row
}

describe('a caller that leaves in the middle', () => {
  test.each(pairs)('pays the usage that comes at the end (%s over %s)', async (caller, over) => {
    const model = modelOf(caller, over)
    const rest = styles[over].events(model, good).slice(over === 'messages' ? 3 : 2)
    const row = await leave(caller, over, async (wire) => {
      await wire.send(rest.join(''))
      wire.end()
    })
    expect([row.ending, row.status, row.estimated]).toEqual(['caller_left', 499, false])
    expect(nanos(row.charge)).toBe(costOf(styles[over], goodTokens))
  })
})

test('a caller that leaves pays nothing when the upstream fails afterwards', async () => {
  const row = await leave('messages', 'responses', (wire) => wire.reset())
  expect(row.charge).toBe('0.00')
})

test('a flood of events for a caller that does not read stays with the upstream', async () => {
  const delta = { content: 'x'.repeat(60_000) }
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
  const events = 3_000
  let sent = 0
  upstream.on('messages-over-chat', async (wire) => {
    await wire.send(head('text/event-stream', 'connection: close\r\n'))
    for (; sent < events && !wire.gone; sent++) await wire.send(event)
    wire.end()
  })
  const caller = await openCaller(gateway.url)
  caller.stopReading()
  const { path, ask } = styles.messages
  caller
    .post(path('messages-over-chat', true), token, ask('messages-over-chat', true))
    .catch(() => {})
  await until('the upstream to be held back', async () => {
    const earlier = sent
    await Bun.sleep(200)
    return sent > 0 && sent === earlier ? true : undefined
  })
  expect(sent).toBeLessThan(events)
  caller.close()
})

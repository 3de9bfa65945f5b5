// What every SDK is tried on: one sandbox with a call log, one gateway in front of it, and what was
// charged. Knows no SDK.
import { afterAll, beforeAll, expect } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, nanos, type RequestRow, requestIdShape, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const key = 'upk-sdk-0123456789abcdef'

export const tokens = {
  usual: apiToken,
  /** Only from addresses that nobody here has. */
  elsewhere: 'sk-elsewhere-0123456789abcdefghijkl',
  /** Of an account without money. */
  broke: 'sk-broke-0123456789abcdefghijklmnop',
  /** One request a minute. */
  slow: 'sk-slow-0123456789abcdefghijklmnopq',
  unknown: 'sk-nobody-0123456789abcdefghijklmno',
}

export const models = {
  text: 'txta-plus',
  vision: 'txta-vl-plus',
  embedding: 'txta-embed',
  /** Served by an upstream that keeps what it was sent. */
  recorded: 'txta-vl-long',
}

/** A red pixel. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const pictureUri = `data:image/png;base64,${picture}`

export interface Stage {
  readonly gateway: TestGateway
  readonly recorded: TestUpstream
  /** How many calls reach the sandbox while the work is done. */
  countCalls(work: () => Promise<unknown>): Promise<number>
}

const config = (sandbox: Sandbox, recorded: TestUpstream) => `
accounts:
  - { name: acme, balance: "10.00" }
  - { name: empty, balance: "0.00" }
tokens:
  - { account: acme, name: test, token: ${tokens.usual} }
  - { account: acme, name: away, token: ${tokens.elsewhere}, allowed_ips: ["203.0.113.0/24"] }
  - { account: acme, name: slow, token: ${tokens.slow}, limits: { rpm: 1 } }
  - { account: empty, name: broke, token: ${tokens.broke} }
channels:
  - name: simulated
    keys: [${key}]
    protocols: ${JSON.stringify(sandbox.protocols)}
    models: { ${models.text}: "*", ${models.vision}: "*", ${models.embedding}: "*" }
    timeouts: { first_byte: 1s }
  - name: recorded
    keys: [${key}]
    protocols: { messages: "${recorded.url}" }
    models: { ${models.recorded}: "*" }
`

/** Started before the cases of a file and stopped after them. */
export function useStage(): Stage {
  let sandbox: Sandbox
  let recorded: TestUpstream
  let gateway: TestGateway
  beforeAll(async () => {
    sandbox = startSandbox({ key })
    recorded = startUpstream(() => jsonReply(recordedMessage))
    gateway = await startGateway({ config: config(sandbox, recorded) })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await sandbox.stop()
    await recorded.stop()
  })
  const total = async () => {
    const answer = await fetch(`${sandbox.url}/_sandbox/calls`)
    return ((await answer.json()) as { total: number }).total
  }
  return {
    get gateway() {
      return gateway
    },
    get recorded() {
      return recorded
    },
    async countCalls(work) {
      const before = await total()
      await work()
      return (await total()) - before
    },
  }
}

const recordedMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: models.recorded,
  content: [{ type: 'text', text: 'Noted.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
}

/** What the work throws. */
export async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

/** As an SDK reports it; `input` has what was read from and written to a cache in it. */
export interface SeenUsage {
  input: number
  output: number
  cacheRead?: number
  cacheWrite?: number
}

/** The books say what the SDK was told, and the account has paid for it. */
export async function expectPaid(
  { gateway }: Stage,
  requestId: string | null | undefined,
  seen: SeenUsage,
): Promise<RequestRow> {
  expect(requestId).toMatch(requestIdShape)
  const row = await rowOf(gateway, requestId!)
  expect(row.usage).toEqual({
    input_tokens: seen.input,
    output_tokens: seen.output,
    cache_read_tokens: seen.cacheRead ?? 0,
    cache_write_tokens: seen.cacheWrite ?? 0,
  })
  expect([row.ending, row.estimated]).toEqual(['complete', false])
  const charge = await chargeOf(gateway, requestId!)
  expect(charge?.quantity).toBe(seen.input + seen.output)
  expect(nanos(charge!.amount)).toBe(-nanos(row.charge))
  expect(nanos(row.charge)).toBeGreaterThan(0n)
  return row
}

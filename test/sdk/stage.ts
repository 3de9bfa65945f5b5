// What every SDK is tried on: one sandbox with a call log, one gateway in front of it, and what was
// charged. Knows no SDK.
import { afterAll, beforeAll, expect } from 'bun:test'
import { z } from 'zod'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { askedDuring } from '../support/asked.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { modelOver, oneWireConfig, type Wire, wireKey, wires } from '../support/one-wire.ts'
import { chargeOf, nanos, type RequestRow, requestIdShape, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

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
  /** Its upstream speaks every style. */
  text: 'txta-plus',
  embedding: 'txta-embed',
  /** Served by an upstream that keeps what it was sent. */
  recorded: 'txta-vl-long',
}

/** What an upstream speaks, and nothing else; and the model that only that upstream has. */
export interface Over {
  wire: Wire
  model: string
}
export const overs: readonly Over[] = wires.map((wire) => ({ wire, model: modelOver(wire) }))

/** Upstreams of the messages style do not say how much of the output was reasoning. */
export const countsReasoning = (wire: Wire): boolean => wire !== 'messages'

/** As lists of models have them. */
export const modelNames = [
  ...overs.map(({ model }) => model),
  models.embedding,
  models.text,
  models.recorded,
].sort()

/** A red pixel. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const pictureUri = `data:image/png;base64,${picture}`

export interface Stage {
  readonly gateway: TestGateway
  readonly recorded: TestUpstream
  /** How many calls have reached the sandbox. */
  calls(): Promise<number>
  /** How many calls reach the sandbox while the work is done. */
  countCalls(work: () => Promise<unknown>): Promise<number>
  /** How many seals on reasoning each of these calls has. */
  countSeals(work: () => Promise<unknown>): Promise<number[]>
}

const timeouts = { first_byte: '1s' }

/** Models of one wire each, and what the cases need besides. */
const configFor = (sandbox: Sandbox, recorded: TestUpstream) =>
  oneWireConfig(sandbox, {
    channel: () => ({ timeouts }),
    config: {
      accounts: [{ name: 'empty', balance: '0.00' }],
      tokens: [
        { account: 'acme', name: 'away', token: tokens.elsewhere, allowed_ips: ['203.0.113.0/24'] },
        { account: 'acme', name: 'slow', token: tokens.slow, limits: { rpm: 1 } },
        { account: 'empty', name: 'broke', token: tokens.broke },
      ],
      channels: [
        {
          name: 'simulated',
          keys: [wireKey],
          protocols: sandbox.protocols,
          models: { [models.text]: '*', [models.embedding]: '*' },
          timeouts,
        },
        {
          name: 'recorded',
          keys: [wireKey],
          protocols: { messages: recorded.url },
          models: { [models.recorded]: '*' },
        },
      ],
    },
  })

/** Started before the cases of a file and stopped after them. */
export function useStage(): Stage {
  let sandbox: Sandbox
  let recorded: TestUpstream
  let gateway: TestGateway
  beforeAll(async () => {
    sandbox = startSandbox({ key: wireKey })
    recorded = startUpstream(() => jsonReply(recordedMessage))
    gateway = await startGateway({ config: JSON.stringify(configFor(sandbox, recorded)) })
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
    calls: total,
    async countCalls(work) {
      const before = await total()
      await work()
      return (await total()) - before
    },
    async countSeals(work) {
      const asked = await askedDuring(sandbox, work)
      return asked.map(({ body }) => body?.match(seals)?.length ?? 0)
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

const seals = /"(?:signature|encrypted_content|thoughtSignature)":"(?!skip_)/g

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

export const weather = {
  name: 'weather',
  description: 'How the weather is in a city',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
  },
}

/** The upstream asks for one city, then for two at once, and quotes the last result. */
const loop =
  '[[sim:tools=[["weather",{"city":"Paris"}],[["weather",{"city":"Rome"}],["weather",{"city":"Oslo"}]]]]]'
/** One call after the other; and with reasoning before them, and the input of both side by side. */
export const toolLoops = [loop, `[[sim:reasoning=4]] [[sim:interleaved]] ${loop}`] as const
export const weatherIn = (city: string): string => `sunny in ${city}`

/** All cities were asked for in that order, and the last answer has the last result. */
export function expectLoop(cities: readonly string[], answer: string | null | undefined): void {
  expect(cities).toEqual(['Paris', 'Rome', 'Oslo'])
  expect(answer).toContain(weatherIn('Oslo'))
}

/**
 * How many seals each request of a loop with reasoning brings back to the upstream, from an SDK that
 * keeps them. An upstream of the chat style seals nothing.
 */
export const sealsOfLoop = (loop: string, { wire }: Over, isKept = true): number[] =>
  loop === toolLoops[1] && wire !== 'chat' && isKept ? [0, 1, 2] : [0, 0, 0]

/** What the SDKs ask for where they have a way to ask for an object. */
export const report = z.object({
  city: z.string(),
  degrees: z.number(),
  sunny: z.boolean(),
  note: z.string().nullable(),
  days: z.array(z.object({ name: z.string(), hours: z.number() })),
})

/**
 * The books say what the SDK was told, and the account has paid for it. What was translated for it
 * lost nothing.
 */
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
  const wire = row.channel?.startsWith('only-') ? row.channel.slice(5) : row.interface
  const path = wire === row.interface ? undefined : `${row.interface}>${wire}`
  expect([row.translation, row.translation_losses ?? []]).toEqual([path, []])
  const charge = await chargeOf(gateway, requestId!)
  expect(charge?.quantity).toBe(seen.input + seen.output)
  expect(nanos(charge!.amount)).toBe(-nanos(row.charge))
  expect(nanos(row.charge)).toBeGreaterThan(0n)
  return row
}

// The books of random endings: in every pair of styles, as JSON and as a stream, charge and loss of a call
// together are the price of what its upstream reported. An upstream that fails is free.
// TEST_ENDINGS=200 for the full number in each pair.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import { listAll, nanos, type RequestRow, until } from '../support/read.ts'
import { seeded, testSeed } from '../support/seeded.ts'
import { type AskOptions, ask, costOf, maxOutput, startOver, window } from './callers.ts'
import {
  type Ending,
  type LyingUpstream,
  startLying,
  styles,
  type ToldUsage,
  type WireName,
  wires,
} from './lying-upstream.ts'

const perPair = Number(process.env['TEST_ENDINGS'] ?? 100)
/** Channels for calls that fail: each of them fails less often than opens its circuit. */
const places = Math.max(10, Math.ceil(perPair / 3))
/** Calls under way at the same time. */
const width = 48

let upstream: LyingUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = startLying()
  gateway = await startOver(upstream, places)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const random = seeded(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const oneOf = <T>(...choices: readonly T[]): T => choices[below(choices.length)]!
const often = <T>(usual: T, other: () => T): T => (random() < 0.6 ? usual : other())

const words = [
  'stop',
  'length',
  'error',
  'pause_turn',
  'MAX_TOKENS',
  'refusal',
  'tired',
  'tool_use',
]
const inputs = ['{"a":1}', '', 'not json', '{"a":', '[1]', '"text"', '{"__proto__":{"a":1}}']

function usageOf(): ToldUsage | undefined {
  if (random() < 0.1) return undefined
  const input = often(1 + below(500), () => below(3 * window))
  const output = often(1 + below(100), () => below(3 * maxOutput))
  return {
    input,
    output,
    ...(random() < 0.3 && { cached: below(input + 1) }),
    ...(random() < 0.3 && { reasoning: below(output + 1) }),
  }
}

function endingOf(): Ending {
  const usage = usageOf()
  return {
    texts: Array.from({ length: 1 + below(4) }, () => 'some words '.repeat(1 + below(30))),
    ...(random() < 0.3 && { thought: 'Let me think. ' }),
    ...(random() < 0.5 && { tool: { name: often('f', () => ''), args: oneOf(...inputs) } }),
    ...(random() < 0.3 && { extra: oneOf('block', 'choice', 'garbage', 'comment') }),
    ...(random() < 0.4 && { finish: oneOf(...words) }),
    ...(usage && { usage }),
    end: often('whole', () => oneOf('whole', 'error', 'late_error', 'cut')),
  }
}

interface Case extends AskOptions {
  ending: Ending
}

const placed = (ending: Ending, i: number): Pick<Case, 'ending' | 'place'> =>
  ending.end === 'whole' ? { ending } : { ending, place: i % places }

const cases: Case[] = styles.flatMap((caller) =>
  wires.flatMap((over) =>
    [false, true].flatMap((stream) =>
      Array.from({ length: perPair }, (_, i) => ({
        caller,
        upstream: over,
        stream,
        id: `${caller}-${over}-${stream ? 's' : 'j'}-${i}`,
        maxTokens: often(1_000, () => 16 + below(50)),
        ...placed(endingOf(), i),
      })),
    ),
  ),
)

/** Whether all of the usage was told before the answer failed. */
const wasTold = (style: WireName, end: Ending['end']): boolean =>
  end === 'late_error' && (style === 'chat' || style === 'messages')

function problemOf({ upstream: style, stream, ending }: Case, row: RequestRow): string | undefined {
  const { usage, end = 'whole' } = ending
  const [charge, loss] = [nanos(row.charge), nanos(row.loss)]
  const isWhole = end === 'whole'
  if (!isWhole && charge !== 0n) return 'a failure was charged'
  if (!isWhole && (row.ending !== 'failed' || row.status === 0)) return `ended as ${row.ending}`
  if (isWhole && row.ending !== 'complete') return `ended as ${row.ending}`
  if (isWhole && charge === 0n && usage !== undefined && costOf(usage) > 0n) {
    return 'an answer was free'
  }
  if (usage === undefined) {
    return isWhole && !(row.estimated && charge > 0n && loss === 0n) ? 'not estimated' : undefined
  }
  const isExact = isWhole || (stream && wasTold(style, end))
  if (isExact && charge + loss !== costOf(usage)) {
    return `${row.charge} + ${row.loss} is not ${costOf(usage)}`
  }
  const hasBegun = stream || end === 'cut'
  if (!isWhole && hasBegun && loss === 0n) return 'a failure has no loss'
  return undefined
}

test('charge and loss are the price of what was reported', async () => {
  const byId = new Map<string, Case>()
  const left = cases.values()
  const worker = async () => {
    for (const each of left) {
      upstream.on(each.id, each.ending)
      const { requestId } = await ask(gateway, each)
      byId.set(requestId, each)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  expect(byId.size).toBe(cases.length)
  const rows = await until('all rows', async () => {
    const found = await listAll<RequestRow>(gateway, '/requests?limit=500')
    return found.length === cases.length ? found : undefined
  })
  const problems = rows.flatMap((row) => {
    const made = byId.get(row.request_id)!
    const problem = problemOf(made, row)
    return problem === undefined ? [] : [`${made.id} ${JSON.stringify(made.ending)}: ${problem}`]
  })
  expect(problems.slice(0, 10)).toEqual([])
}, 600_000)

test('no channel is blamed for what its answers ended with, and the books are right', async () => {
  const channels = await listAll<{ name: string; health: { state: string } }>(gateway, '/channels')
  const sound = channels.filter(({ name }) => !/\d$/.test(name))
  expect(sound.map(({ health }) => health.state)).toEqual(wires.map(() => 'good'))
  const { body } = await gateway.admin('POST', '/audit')
  expect(body).toMatchObject({ ok: true, problems: [] })
})

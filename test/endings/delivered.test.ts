// Over HTTP, at an upstream that lies: what a caller received of an answer that its upstream finished is
// charged as reported, in every pair of styles, whatever the answer ends with.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import { nanos, rowOf } from '../support/read.ts'
import { ask, costOf, startOver } from './callers.ts'
import {
  type Ending,
  type LyingUpstream,
  startLying,
  styles,
  type WireName,
  wires,
} from './lying-upstream.ts'

let upstream: LyingUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = startLying()
  gateway = await startOver(upstream)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const essay = 'The essay that was asked for. '
const usage = { input: 20, output: 400 }
const whole: Ending = { texts: [essay, 'And its end.'], usage }
const call = (name: string, args: string): Ending => ({ ...whole, tool: { name, args } })

/** By upstream style: the name of the case, its ending, and the loss that it names. */
const endings: [
  wires: readonly WireName[],
  name: string,
  ending: Ending,
  loss: string | undefined,
][] = [
  [wires, 'a plain end', whole, undefined],
  [wires, 'arguments that are not JSON', call('f', 'not json'), 'answer.tool_arguments'],
  [wires, 'a tool without a name', call('', '{"a":1}'), 'answer.tool_name'],
  [wires, 'a finish word that nobody knows', { ...whole, finish: 'tired' }, 'answer.finish_reason'],
  [['chat'], 'the finish word error', { ...whole, finish: 'error' }, 'answer.finish_reason'],
  [['chat'], 'no finish word', { ...whole, finish: null }, 'answer.finish_reason'],
  [['messages'], 'pause_turn', { ...whole, finish: 'pause_turn' }, 'answer.finish_reason'],
  [
    ['generate'],
    'MALFORMED_FUNCTION_CALL',
    { ...whole, finish: 'MALFORMED_FUNCTION_CALL' },
    'answer.finish_reason',
  ],
  [
    ['generate', 'messages', 'converse'],
    'a part that no other style has',
    { ...whole, extra: 'block' },
    'answer.content',
  ],
  [['chat'], 'a second choice', { ...whole, extra: 'choice' }, 'answer.choices'],
]

const cases = endings.flatMap(([over, name, ending, loss]) =>
  over.flatMap((style) =>
    styles.flatMap((caller) =>
      [false, true].map((stream) => ({ style, caller, stream, name, ending, loss })),
    ),
  ),
)

describe('charged as reported:', () => {
  test.each(
    cases.map(
      (each, i) =>
        [
          `${each.caller} over ${each.style}, ${each.stream ? 'stream' : 'JSON'}: ${each.name}`,
          each,
          `d${i}`,
        ] as const,
    ),
  )('%s', async (_, { style, caller, stream, ending, loss }, id) => {
    upstream.on(id, ending)
    const asked = await ask(gateway, { caller, upstream: style, id, stream })
    expect(asked.status).toBe(200)
    expect(asked.text).toContain(essay.trim())
    if (ending.tool?.args === 'not json') expect(asked.text).toContain('json')
    const row = await rowOf(gateway, asked.requestId)
    expect([row.ending, nanos(row.charge), row.loss, row.estimated]).toEqual([
      'complete',
      costOf(usage),
      '0.00',
      false,
    ])
    const lost = caller === style || loss === undefined ? [] : [loss]
    expect((row.translation_losses ?? []).filter((name) => name.startsWith('answer.'))).toEqual(
      lost,
    )
  })
})

// A fault at the first channel and a second one that is well: as long as the caller has seen nothing,
// the second takes over; a request that is wrong itself goes to nobody else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorIn, nanos, rowOf } from '../support/read.ts'
import { type Answer, openCaller } from './caller.ts'
import {
  answered,
  asChunk,
  callerHas,
  canary,
  chunkedStream,
  type Mode,
  openStream,
  type Scene,
  short,
  wholeAnswer,
  withoutMarks,
} from './fault.ts'
import {
  type RawUpstream,
  settle,
  startRawUpstream,
  type Wire,
  waitForGone,
} from './raw-upstream.ts'
import { costOf, good, goodTokens, type StyleName, styles } from './styles.ts'

const token = 'sk-other-0123456789abcdefghijklmn'
const firstKey = canary
const secondKey = 'upk-second-90ab12cd34ef5678'

interface Turn {
  name: string
  style: StyleName
  mode: Mode
  /** Left out: the first channel leads to a port where nobody listens. */
  first?: (wire: Wire, scene: Scene) => unknown
}

const says = (status: string) => (wire: Wire) =>
  wire.send(answered(status, '{"error":{"message":"no"}}'))

// Fewer than the extra attempts that a gateway has at its start.
const mended: Turn[] = [
  { name: 'is not there', style: 'chat', mode: 'json' },
  { name: 'is not there', style: 'messages', mode: 'stream' },
  { name: 'resets', style: 'responses', mode: 'json', first: (wire) => wire.reset() },
  { name: 'closes', style: 'embeddings', mode: 'json', first: (wire) => wire.end() },
  { name: 'answers 500', style: 'chat', mode: 'stream', first: says('500 Oops') },
  { name: 'answers 401', style: 'messages', mode: 'json', first: says('401 No') },
  { name: 'answers 429', style: 'responses', mode: 'stream', first: says('429 Slow') },
  { name: 'is silent', style: 'embeddings', mode: 'json', first: waitForGone },
  { name: 'speaks no HTTP', style: 'chat', mode: 'json', first: (wire) => wire.send('hello\r\n') },
  {
    name: 'sends half a body',
    style: 'messages',
    mode: 'json',
    async first(wire, scene) {
      await wire.send(wholeAnswer(scene, good).slice(0, -9))
      await settle()
      wire.reset()
    },
  },
  {
    name: 'sends half an event',
    style: 'responses',
    mode: 'stream',
    async first(wire, { style, model }) {
      await wire.send(openStream + style.events(model, good)[0]!.slice(0, -9))
      await settle()
      wire.end()
    },
  },
  {
    name: 'begins with an error event',
    style: 'messages',
    mode: 'stream',
    first: (wire) =>
      wire.send(
        `${chunkedStream}${asChunk('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n')}0\r\n\r\n`,
      ),
  },
]
const ended: (Turn & { status: number; code: string })[] = [
  {
    name: 'finds the request wrong',
    style: 'chat',
    mode: 'json',
    first: says('400 Bad'),
    status: 400,
    code: 'upstream_invalid_request',
  },
  {
    name: 'breaks off after its first event',
    style: 'chat',
    mode: 'stream',
    async first(wire, scene) {
      const event = scene.style.events(scene.model, good)[0]!
      await wire.send(openStream + event)
      await callerHas(scene, event.trimEnd())
      await settle()
      wire.reset()
    },
    status: 200,
    code: 'upstream_error',
  },
]

let upstream: RawUpstream
let gateway: TestGateway
const turns: Turn[] = [...mended, ...ended]
const modelOf = (turn: Turn): string => `m-${turns.indexOf(turn)}`

beforeAll(async () => {
  upstream = await startRawUpstream()
  const address = `http://127.0.0.1:${upstream.port}`
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: turns.map((turn) => ({ name: `a-${modelOf(turn)}`, balance: '1.00' })),
      tokens: turns.map((turn) => ({
        account: `a-${modelOf(turn)}`,
        name: 'test',
        token: token + modelOf(turn),
      })),
      channels: turns.flatMap((turn) =>
        [firstKey, secondKey].map((key, index) => ({
          name: `c-${modelOf(turn)}-${index}`,
          keys: [key],
          priority: index === 0 ? 10 : 0,
          protocols: {
            [turn.style]:
              (index === 0 && turn.first === undefined ? 'http://127.0.0.1:1' : address) +
              styles[turn.style].basePath,
          },
          models: { [modelOf(turn)]: '*' },
          timeouts: short,
        })),
      ),
      models: turns.map((turn) => ({
        name: modelOf(turn),
        kind: 'text',
        interfaces: [turn.style],
      })),
      prices: turns.map((turn) => ({
        model: modelOf(turn),
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

async function play(turn: Turn): Promise<Answer> {
  const model = modelOf(turn)
  const style = styles[turn.style]
  const caller = await openCaller(gateway.url)
  const scene: Scene = { style, mode: turn.mode, model, received: caller.received, trap: '' }
  upstream.on(model, async (wire) => {
    if (wire.asked.key === secondKey) await wire.send(wholeAnswer(scene, good))
    else await turn.first?.(wire, scene)
  })
  const answer = await caller.post(
    style.path(model, turn.mode === 'stream'),
    token + model,
    style.ask(model, turn.mode === 'stream'),
  )
  caller.close()
  return answer
}

const keysOf = (turn: Turn): string[] =>
  upstream.asked.filter(({ model }) => model === modelOf(turn)).map(({ key }) => key)
const titled = <T extends Turn>(list: readonly T[]) =>
  list.map((turn): [string, string, string, T] => [turn.name, turn.style, turn.mode, turn])

describe('a first channel that', () => {
  test.each(titled(mended))('%s is followed by the second (%s, %s)', async (_, __, ___, turn) => {
    const answer = await play(turn)
    const { style: name, mode, first } = turn
    const style = styles[name]
    const expected =
      mode === 'json'
        ? JSON.stringify(style.answer(modelOf(turn), good))
        : style.events(modelOf(turn), good).join('')
    expect([answer.status, withoutMarks(answer.text)]).toEqual([200, expected])
    expect(keysOf(turn)).toEqual(first === undefined ? [secondKey] : [firstKey, secondKey])
    const row = await rowOf(gateway, answer.headers['x-request-id']!)
    expect([row.attempts.length, nanos(row.charge)]).toEqual([2, costOf(style, goodTokens)])
    expect((await accountOf(gateway, `a-${modelOf(turn)}`)).held).toBe('0.00')
  })

  test.each(titled(ended))('%s is not followed by another (%s, %s)', async (_, __, ___, turn) => {
    const answer = await play(turn)
    expect(answer.status).toBe(turn.status)
    const last = answer.text.trimEnd().split('\n\n').at(-1)!
    expect(errorIn(last.replace(/^data: /, '')).code).toBe(turn.code)
    expect(keysOf(turn)).toEqual([firstKey])
    const account = await accountOf(gateway, `a-${modelOf(turn)}`)
    expect([account.balance, account.held]).toEqual(['1.00', '0.00'])
  })
})

// A call whose style changes on its way: the channel of its own style fails and another one translates, or
// one translation follows another. As long as the caller has seen nothing; afterwards nothing follows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openCaller } from '../faults/caller.ts'
import {
  answered,
  canary,
  type Mode,
  openStream,
  type Scene,
  short,
  wholeAnswer,
} from '../faults/fault.ts'
import { type RawUpstream, settle, startRawUpstream, type Wire } from '../faults/raw-upstream.ts'
import { costOf, good, goodTokens, type StyleName, styles } from '../faults/styles.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, dataLines, nanos, rowOf } from '../support/read.ts'
import { problemsIn } from './grammars.ts'

const token = 'sk-style-0123456789abcdefghijklmn'
const firstKey = canary
const secondKey = 'upk-second-90ab12cd34ef5678'

interface Turn {
  name: string
  caller: StyleName
  first: StyleName
  second: StyleName
  mode: Mode
  /** Left out: the first channel leads to a port where nothing listens. */
  fails?: (wire: Wire, scene: Scene) => unknown
  /** The caller has seen some of the first answer: nothing follows. */
  isSeen?: true
}

const says = (status: string) => (wire: Wire) =>
  wire.send(answered(status, '{"error":{"message":"no"}}'))
const halfEvent = async (wire: Wire, { style, model }: Scene) => {
  await wire.send(openStream + style.events(model, good)[0]!.slice(0, -9))
  await settle()
  wire.end()
}
/** Only a translator looks at the reason. */
const noAnswer = (wire: Wire, { style, model }: Scene) => {
  const body = JSON.stringify(style.answer(model, good))
  const cut = body
    .replace(/"(finish_reason|stop_reason)":"\w+"/, '"$1":null')
    .replace(/"content":\[.*?\]/, '"content":[]')
  return wire.send(answered('200 OK', cut))
}
const breaksOff = async (wire: Wire, { style, model, received }: Scene) => {
  const events = style.events(model, good)
  await wire.send(openStream + events.slice(0, -2).join(''))
  while (!received().includes('data: ')) await settle()
  wire.reset()
}

// Fewer than the extra attempts that a gateway has at its start.
const turns: Turn[] = [
  { name: 'is not there', caller: 'chat', first: 'chat', second: 'messages', mode: 'json' },
  { name: 'is not there', caller: 'generate', first: 'generate', second: 'chat', mode: 'stream' },
  {
    name: 'answers 500',
    caller: 'messages',
    first: 'messages',
    second: 'responses',
    mode: 'stream',
    fails: says('500 Oops'),
  },
  {
    name: 'answers 429',
    caller: 'responses',
    first: 'responses',
    second: 'generate',
    mode: 'json',
    fails: says('429 Slow'),
  },
  {
    name: 'sends half an event',
    caller: 'chat',
    first: 'chat',
    second: 'generate',
    mode: 'stream',
    fails: halfEvent,
  },
  {
    name: 'sends half an event of another style',
    caller: 'messages',
    first: 'responses',
    second: 'chat',
    mode: 'stream',
    fails: halfEvent,
  },
  {
    name: 'answers 500 in another style',
    caller: 'generate',
    first: 'responses',
    second: 'messages',
    mode: 'stream',
    fails: says('500 Oops'),
  },
  {
    name: 'says nothing, nor why it stopped',
    caller: 'responses',
    first: 'messages',
    second: 'chat',
    mode: 'json',
    fails: noAnswer,
  },
  {
    name: 'says nothing, nor why it stopped',
    caller: 'chat',
    first: 'messages',
    second: 'generate',
    mode: 'json',
    fails: noAnswer,
  },
]
const seenTurns: Turn[] = [
  {
    name: 'breaks off in the caller’s own style',
    caller: 'messages',
    first: 'messages',
    second: 'chat',
    mode: 'stream',
    fails: breaksOff,
    isSeen: true,
  },
  {
    name: 'breaks off in another style',
    caller: 'responses',
    first: 'messages',
    second: 'chat',
    mode: 'stream',
    fails: breaksOff,
    isSeen: true,
  },
]
const all = [...turns, ...seenTurns]
const modelOf = (turn: Turn): string => `m-${all.indexOf(turn)}`

let upstream: RawUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startRawUpstream()
  const address = `http://127.0.0.1:${upstream.port}`
  const channel = (turn: Turn, index: 0 | 1) => {
    const style = index === 0 ? turn.first : turn.second
    const isThere = index === 1 || turn.fails !== undefined
    return {
      name: `c-${modelOf(turn)}-${index}`,
      keys: [index === 0 ? firstKey : secondKey],
      priority: index === 0 ? 10 : 0,
      protocols: {
        [style]: (isThere ? address : 'http://127.0.0.1:1') + styles[style].basePath,
      },
      models: { [modelOf(turn)]: '*' },
      timeouts: short,
    }
  }
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: all.map((turn) => ({ name: `a-${modelOf(turn)}`, balance: '1.00' })),
      tokens: all.map((turn) => ({
        account: `a-${modelOf(turn)}`,
        name: 'test',
        token: token + modelOf(turn),
      })),
      channels: all.flatMap((turn) => [channel(turn, 0), channel(turn, 1)]),
      models: all.map((turn) => ({
        name: modelOf(turn),
        kind: 'text',
        interfaces: [...new Set([turn.first, turn.second])],
      })),
      prices: all.map((turn) => ({
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

async function play(turn: Turn) {
  const model = modelOf(turn)
  const { mode } = turn
  const caller = await openCaller(gateway.url)
  const scene = (style: StyleName): Scene => ({
    style: styles[style],
    caller: styles[turn.caller],
    mode,
    model,
    received: caller.received,
    trap: '',
  })
  upstream.on(model, async (wire) => {
    if (wire.asked.key === secondKey) await wire.send(wholeAnswer(scene(turn.second), good))
    else await turn.fails?.(wire, scene(turn.first))
  })
  const { path, ask } = styles[turn.caller]
  const isStream = mode === 'stream'
  const answer = await caller.post(path(model, isStream), token + model, ask(model, isStream))
  caller.close()
  const row = await rowOf(gateway, answer.headers['x-request-id']!)
  const keys = upstream.asked.filter((each) => each.model === model).map(({ key }) => key)
  return { answer, row: row as typeof row & { translation?: string }, keys }
}

const titled = (list: readonly Turn[]) =>
  list.map((turn): [string, string, Turn] => [
    turn.name,
    `${turn.caller}: ${turn.first}, then ${turn.second}, ${turn.mode}`,
    turn,
  ])

describe('a first channel that', () => {
  test.each(titled(turns))('%s is followed by one of another style (%s)', async (_, __, turn) => {
    const { answer, row, keys } = await play(turn)
    const { caller, second, mode, fails } = turn
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Hello')])
    expect(answer.headers['x-gateway-translation']).toBe(`${caller}>${second}`)
    if (mode === 'stream') expect(problemsIn(caller, answer.text)).toEqual([])
    expect(keys).toEqual(fails === undefined ? [secondKey] : [firstKey, secondKey])
    const model = modelOf(turn)
    expect(row.attempts.map(({ channel, status }) => [channel, status])).toEqual([
      [`c-${model}-0`, row.attempts[0]?.status],
      [`c-${model}-1`, 200],
    ])
    expect(row.attempts[0]?.error).toBeString()
    expect([row.translation, row.channel]).toEqual([`${caller}>${second}`, `c-${model}-1`])
    expect(nanos(row.charge)).toBe(costOf(styles[second], goodTokens))
    const { body } = await gateway.admin('GET', `/explain/${row.request_id}`)
    expect(JSON.stringify(body)).toContain(`${caller} to ${second}`)
    expect((await accountOf(gateway, `a-${model}`)).held).toBe('0.00')
  })

  test.each(titled(seenTurns))('%s is followed by none (%s)', async (_, __, turn) => {
    const { answer, row, keys } = await play(turn)
    expect([answer.status, keys]).toEqual([200, [firstKey]])
    const events = dataLines(answer.text).map((line) => JSON.parse(line))
    const failures = events.filter((each) => (each.error ?? each.response?.error) != null)
    expect([failures.length, failures[0]]).toEqual([1, events.at(-1)])
    expect([row.ending, row.charge, row.attempts.length]).toEqual(['failed', '0.00', 1])
    const account = await accountOf(gateway, `a-${modelOf(turn)}`)
    expect([account.balance, account.held]).toEqual(['1.00', '0.00'])
  })
})

// Runs a table of failures of one cloud: each case has channels of its own, so that none sees the health or the
// tokens of another. Whatever fails, callers get an error in the words of their style, pay nothing, and no id
// or credential of the cloud account is in an answer, a request row or the log.
import { expect, test } from 'bun:test'
import { type Style, type StyleName, streaming, styles } from '../../faults/styles.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { accountOf, dataLines, requestIdOf, rowOf } from '../../support/read.ts'
import { type Captured, startUpstream, type TestUpstream } from '../../support/upstream.ts'

export type Reply = (call: Captured, nth: number) => Response | Promise<Response>

export interface Case {
  name: string
  /** Of calls; left out: none may arrive. */
  calls?: Reply
  /** Of the token endpoint. */
  tokens?: Reply
  only?: 'json' | 'stream'
  status: number
  code: string
  says: RegExp
  /** How many calls may arrive. Default 1, or 0 without `calls`. */
  arrive?: number
  /** The stream may have begun, as packets go; then its status is 200 and the error is its last event. */
  inside?: true
  /** The model's id there, where it decides how it is asked. */
  model?: string
  /** What the channel has besides, or instead. */
  channel?: object
  auth?: object
}

export interface Cloud {
  name: string
  channel(base: string, tokens: string, changed: object): object
  secrets: readonly string[]
  cases: readonly Case[]
}

export interface Run {
  gateway: TestGateway
  upstream: TestUpstream
  check(at: number, mode: 'json' | 'stream', style: StyleName): Promise<void>
  stop(): Promise<void>
}

/** How many ways to fail each cloud is tried with at least. */
const minCases = 24

/** Every case of the run that `run` gives, and that they are enough. */
export function testCases(cloud: Cloud, run: () => Run): void {
  test.each(rowsOf(cloud))('%s, %s, %s', (_, mode, style, at) => run().check(at, mode, style))
  test(`${cloud.name} has ${minCases} cases and more`, () => {
    expect(new Set(cloud.cases.map(({ name }) => name)).size).toBeGreaterThanOrEqual(minCases)
  })
}

const idOf = (at: number, mode: string): string => `c${at}-${mode}`
const modes = ['json', 'stream'] as const

/** Every case in the modes that it has, each in another style. */
const rowsOf = ({ cases }: Cloud) =>
  cases.flatMap(({ name, only }, at) =>
    modes
      .filter((mode) => only === undefined || only === mode)
      .map((mode, k) => [name, mode, streaming[(at + k) % streaming.length]!, at] as const),
  )

export async function startRun(cloud: Cloud): Promise<Run> {
  const { cases } = cloud
  const upstream = startUpstream((call) => {
    const [, kind, id = ''] = call.path.split('/')
    const { calls, tokens } = cases[Number(/\d+/.exec(id)?.[0])]!
    const nth = upstream.calls.filter(({ path }) => path.startsWith(`/${kind}/${id}/`)).length
    const reply = kind === 'tokens' ? tokens : calls
    return reply?.(call, nth) ?? new Response('unexpected', { status: 500 })
  })
  const ids = cases.flatMap((each, at) => modes.map((mode) => ({ each, id: idOf(at, mode) })))
  const config = {
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: 'sk-test-0123456789abcdefghijklmnop' }],
    models: ids.map(({ id }) => ({ name: id, kind: 'text', interfaces: ['chat'] })),
    prices: ids.map(({ id }) => ({
      ...{ model: id, unit: 'token', per_million: { input: '1.00', output: '2.00' } },
    })),
    channels: ids.map(({ each, id }) => ({
      name: id,
      models: { [id]: each.model ?? 'upstream-model' },
      ...cloud.channel(
        `${upstream.url}/calls/${id}`,
        `${upstream.url}/tokens/${id}`,
        each.auth ?? {},
      ),
      ...each.channel,
    })),
  }
  const gateway = await startGateway({ config: JSON.stringify(config) })
  return {
    gateway,
    upstream,
    check: (at, mode, style) => check(cloud, gateway, upstream, at, mode, styles[style]),
    async stop() {
      expect(await accountOf(gateway, 'acme')).toMatchObject({ balance: '100.00', held: '0.00' })
      expect(await gateway.stop()).toBe(0)
      expectNone(cloud.secrets, gateway.output())
      await upstream.stop()
    },
  }
}

function expectNone(secrets: readonly string[], text: string): void {
  for (const secret of secrets) expect(text).not.toContain(secret)
}

async function check(
  cloud: Cloud,
  gateway: TestGateway,
  upstream: TestUpstream,
  at: number,
  mode: 'json' | 'stream',
  style: Style,
): Promise<void> {
  const { status, code, says, inside, calls, arrive } = cloud.cases[at]!
  const id = idOf(at, mode)
  const isStream = mode === 'stream'
  const response = await gateway.post(style.path(id, isStream), style.ask(id, isStream))
  const text = await response.text()
  const isBegun = inside === true && /event-stream/.test(response.headers.get('content-type') ?? '')
  const error = errorIn(style.name, text, isBegun)
  expect([response.status, error.message]).toEqual([
    isBegun ? 200 : statusIn(style.name, status),
    expect.stringMatching(says),
  ])
  if (isBegun) expect(text.trimEnd()).not.toEndWith(style.final)
  const row = await rowOf(gateway, requestIdOf(response))
  expect([row.error_code, (row as { charge?: string }).charge]).toEqual([code, '0.00'])
  expectNone(cloud.secrets, `${text} ${JSON.stringify(row)}`)
  const arrived = upstream.calls.filter(({ path }) => path.startsWith(`/calls/${id}/`))
  expect(arrived).toHaveLength(arrive ?? (calls === undefined ? 0 : 1))
}

/** The messages style has a status of its own for servers with too much to do. */
const statusIn = (style: StyleName, status: number): number =>
  style === 'messages' && status === 503 ? 529 : status

/** As clients of this style find it. */
function errorIn(style: StyleName, text: string, isBegun: boolean): { message: string } {
  const body = JSON.parse(isBegun ? (lastError(text) ?? '{}') : text)
  const error = body.error ?? body.response?.error ?? body
  const words = style === 'generate' ? error.status : style === 'messages' ? error.type : error.code
  expect([typeof words, typeof error.message]).toEqual(['string', 'string'])
  if (style === 'messages') expect(body.type).toBe('error')
  return error
}

const lastError = (text: string): string | undefined =>
  dataLines(text).findLast((data) => data.includes('"error"'))

/** Answers only when nobody waits for it. */
export const never = (): Promise<Response> => new Promise(() => {})

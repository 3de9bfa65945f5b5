// What every case of the table of task faults must show: states that only go forward and then stay,
// a bill that is right to the last digit, one create, and no word of what lies behind the gateway.
import { expect } from 'bun:test'
import { type EntryRow, type ErrorFields, nanos, requestIdShape } from '../../support/read.ts'
import type { Answer } from '../caller.ts'
import { canary, leaked } from '../fault.ts'
import type { SeenState } from './dialects.ts'
import { opening, type TaskEnding, type TaskRun } from './fault.ts'
import type { TaskWire } from './wire.ts'

interface TaskRow {
  id: string
  state: string
  charge: string
  error: { code: string; message: string } | null
}

const ownHeaders = new Set([
  ...['x-gateway-request-id', 'x-request-id', 'request-id', 'date', 'retry-after'],
  ...['content-type', 'content-length', 'transfer-encoding', 'cache-control', 'x-should-retry'],
  ...['openai-poll-after-ms', 'content-disposition', 'accept-ranges', 'content-range', 'etag'],
  ...['x-content-type-options', 'connection', 'expires', 'last-modified'],
  'content-security-policy',
])

const rank: Readonly<Record<SeenState, number>> = {
  open: 0,
  queued: 0,
  running: 1,
  succeeded: 2,
  failed: 2,
  cancelled: 2,
}

export async function checkTaskRun(run: TaskRun): Promise<void> {
  const { fault, wire } = run.case
  const ending = typeof fault.ending === 'function' ? fault.ending(wire) : fault.ending
  await checkStaysEnded(run)
  checkHistory(run, ending)
  await checkBooks(run, ending, wire)
  expect(run.asked('create')).toHaveLength(fault.creates ?? 1)
  for (const answer of run.answers) checkAnswer(answer, run)
  const next = await run.ask('GET', '/v1/models')
  expect([next.status, next.whole]).toEqual([200, true])
}

/** Whatever the upstream says from now on, for as long as anybody might look. */
async function checkStaysEnded(run: TaskRun): Promise<void> {
  const { stage, scene, case: made } = run
  const { wire, id, film } = scene
  expect(await stage.isBusy()).toBe(false)
  if (run.id === '') return
  const before = await run.see()
  const asked = run.asked('check').length
  stage.upstream.change(made.name, {
    check: (n) => ({
      body: n % 2 === 0 ? wire.failed(id, 'no') : wire.done(id, { url: film, used: 1 }),
    }),
  })
  for (const hours of [1, 30]) expect(await run.poll(hours * 3_600_000)).toEqual(before)
  expect(run.asked('check')).toHaveLength(asked)
}

/** Forward only, and the first end is the last. */
function checkHistory({ history, created }: TaskRun, ending: TaskEnding): void {
  for (const [i, seen] of history.entries()) {
    const last = history[i - 1]
    if (last === undefined) continue
    expect(rank[seen.state]).toBeGreaterThanOrEqual(rank[last.state])
    expect(seen.progress!).toBeGreaterThanOrEqual(last.progress!)
    if (rank[last.state] === 2) expect(seen).toEqual(last)
  }
  if (ending.state === 'refused') {
    const { error } = JSON.parse(created!.text) as { error: ErrorFields }
    expect([created!.status, error.code]).toEqual([ending.status, ending.code])
    if (ending.message !== undefined) expect(error.message).toMatch(ending.message)
    return
  }
  const code = ending.state === 'failed' ? { code: ending.code } : {}
  expect(history.at(-1)!).toMatchObject({ state: ending.state, ...code })
  if (ending.state !== 'failed') expect(history.at(-1)!.code).toBeUndefined()
}

const costOf = (ending: TaskEnding, wire: TaskWire): string => {
  const { usual } = wire
  if (ending.state !== 'succeeded') return '0.00'
  if (typeof ending.pays === 'function') return ending.pays(wire)
  return { usual: usual.cost, requested: usual.requested, most: usual.most }[ending.pays]
}

async function checkBooks(run: TaskRun, ending: TaskEnding, wire: TaskWire): Promise<void> {
  const { stage, case: made } = run
  const cost = nanos(costOf(ending, wire))
  const account = await stage.admin('GET', `/accounts/${made.account}`)
  expect([nanos(account.balance), account.held]).toEqual([nanos(opening) - cost, '0.00'])
  const { items } = await stage.admin('GET', `/accounts/${made.account}/ledger?limit=100`)
  const entries = (items as (EntryRow & { task_id: string | null })[]).filter(
    ({ kind }) => kind !== 'credit',
  )
  const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length
  const charges = entries.filter(({ kind }) => kind === 'charge')
  expect(count('hold')).toBe(count('release'))
  expect(charges.map(({ amount }) => nanos(amount))).toEqual(
    ending.state === 'succeeded' ? [-cost] : [],
  )
  // What the upstream did not tell is told as an estimate.
  const isGuess = ending.state === 'succeeded' && ending.pays === 'requested'
  expect(charges.filter(({ estimated }) => estimated !== isGuess)).toEqual([])
  const rows = (await stage.admin('GET', `/tasks?account=${made.account}`)).items as TaskRow[]
  expect(rows).toHaveLength(count('hold'))
  const [row] = rows.filter(({ id }) => run.id === '' || id === run.id)
  expect(row!.state).toBe(ending.state === 'refused' ? 'failed' : ending.state)
  expect(nanos(row!.charge)).toBe(cost)
  expect(JSON.stringify(rows)).not.toContain(canary)
}

function checkAnswer(answer: Answer, { stage, case: made, scene }: TaskRun): void {
  const id = answer.headers['x-gateway-request-id']
  expect(id).toMatch(requestIdShape)
  if (answer.status >= 400) {
    const { error } = JSON.parse(answer.text) as { error: ErrorFields }
    expect([error.request_id, answer.whole]).toEqual([id!, true])
    expect(error.message).toEndWith(` (${id})`)
  }
  // A connection may break before the end of its head.
  const names = Object.keys(answer.headers).filter((name) => name !== '')
  expect(names.filter((name) => !ownHeaders.has(name))).toEqual([])
  const head = answer.raw.slice(0, 4_096)
  const ports = [stage.upstream.port, stage.elsewhere.port]
  const places = [...ports.map((port) => `127.0.0.1:${port}`), `/${made.name}/media`, scene.otherId]
  const text = answer.status === 200 && answer.headers['content-type'] === 'video/mp4' ? head : null
  const shown = text ?? answer.raw
  const secrets = [canary, canary.slice(-8), ...leaked, ...places]
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([])
}

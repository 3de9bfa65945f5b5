// The load of the outage tests: text calls and videos at gateways whose database comes and goes, each
// asked for once, with what its caller saw. Then the books, held against that. Knows no database.

import { apiToken, type TestGateway } from '../gateway.ts'
import { ledgerOf, nanos, until } from '../read.ts'
import { isOver, readTaskLedger, readTasks } from '../task-books.ts'
import type { CallKind, Outcome } from './crash-load.ts'
import { issue } from './crash-load.ts'

export interface OutageLoad {
  calls: Outcome[]
  /** Ids of the videos that were promised, by prompt. */
  promised: Map<string, string>
  /** Prompts of those that were refused. */
  refused: Set<string>
  /** Every status that creates were answered with. */
  statuses: Set<number>
  /** Waits for all that is under way. */
  stop(): Promise<void>
}

const kinds: readonly CallKind[] = [
  { stream: false, canEnd: true, directives: '[[sim:tokens=12]]' },
  { stream: false, canEnd: true, directives: '[[sim:delay=120ms]][[sim:tokens=30]]' },
  { stream: true, canEnd: true, directives: '[[sim:chunk=3ms]][[sim:tokens=90]]' },
  { stream: true, canEnd: true, directives: '[[sim:tokens=20]]' },
]
const callers = 6
const creators = 2
const callPauseMs = 25
const createPauseMs = 150

let loads = 0

export function startLoad(urls: readonly string[]): OutageLoad {
  const name = `load-${++loads}`
  let over = false
  let made = 0
  const load: OutageLoad = {
    calls: [],
    promised: new Map(),
    refused: new Set(),
    statuses: new Set(),
    async stop() {
      over = true
      await Promise.all(running)
    },
  }
  const urlAt = (number: number) => urls[number % urls.length]!
  const call = async () => {
    while (!over) {
      const number = made++
      const kind = kinds[number % kinds.length]!
      load.calls.push(await issue(urlAt(number), `${name}-${number}`, kind))
      await Bun.sleep(callPauseMs)
    }
  }
  const create = async () => {
    while (!over) {
      const number = made++
      await createOne(load, urlAt(number), `${name}-${number}`)
      await Bun.sleep(createPauseMs)
    }
  }
  const running = [
    ...Array.from({ length: callers }, call),
    ...Array.from({ length: creators }, create),
  ]
  return load
}

async function createOne(load: OutageLoad, url: string, prompt: string): Promise<void> {
  const answer = await fetch(`${url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vfa-2.7-t2v', prompt, seconds: '5' }),
    keepalive: false,
  })
  load.statuses.add(answer.status)
  const body = (await answer.json()) as { id?: string }
  if (answer.status === 200) load.promised.set(prompt, body.id!)
  else load.refused.add(prompt)
}

/** What was found wrong, as sentences; nothing when all is well. */
export async function findWrongCalls(load: OutageLoad, gateway: TestGateway): Promise<string[]> {
  const paid = async () => {
    const paidFor = new Map<string, bigint>()
    for (const { request_id, amount } of await ledgerOf(gateway)) {
      if (request_id === null) continue
      paidFor.set(request_id, (paidFor.get(request_id) ?? 0n) + nanos(amount))
    }
    return paidFor
  }
  const wrongIn = (paidFor: ReadonlyMap<string, bigint>) =>
    load.calls.flatMap(({ user, ended, requestId, unanswered }) => {
      if (unanswered || requestId === undefined) return [`${user} was not answered`]
      const amount = paidFor.get(requestId) ?? 0n
      if (ended && amount === 0n) return [`${user} (${requestId}) was answered for nothing`]
      return !ended && amount !== 0n ? [`${user} (${requestId}) paid for nothing`] : []
    })
  // What was told as failed and written all the same is given back in a moment.
  let wrongs: string[] = []
  await until('the books', async () => {
    wrongs = wrongIn(await paid())
    return wrongs.length === 0 || undefined
  }).catch(() => {})
  return [...wrongs, ...(await chargedTwice(gateway))]
}

const maxTaskMs = 60_000

const untilTasksEnd = (promised: readonly string[], gateway: TestGateway) =>
  until(
    'the end of every task',
    async () => {
      const rows = await readTasks(gateway)
      const ids = new Set(rows.map(({ id }) => id))
      return (promised.every((id) => ids.has(id)) && rows.every(isOver)) || undefined
    },
    maxTaskMs,
  )

export async function findWrongTasks(
  loads: readonly OutageLoad[],
  gateway: TestGateway,
): Promise<string[]> {
  const promised = new Set(loads.flatMap((load) => [...load.promised.values()]))
  const refused = new Set(loads.flatMap((load) => [...load.refused]))
  await untilTasksEnd([...promised], gateway)
  const entries = await readTaskLedger(gateway)
  return (await readTasks(gateway)).flatMap(({ id, state, request: { prompt } }) => {
    const charges = entries.filter(({ kind, task_id }) => kind === 'charge' && task_id === id)
    const wanted = state === 'succeeded' ? 1 : 0
    const wrongs =
      charges.length === wanted ? [] : [`${id} is ${state}, charges: ${charges.length}`]
    if (promised.has(id) && state !== 'succeeded') wrongs.push(`${id} is ${state}`)
    if (refused.has(prompt) && charges.length > 0) wrongs.push(`${id} was refused, and charged`)
    return wrongs
  })
}

async function chargedTwice(gateway: TestGateway): Promise<string[]> {
  const seen = new Set<string>()
  return (await ledgerOf(gateway)).flatMap(({ kind, request_id }) => {
    if (kind !== 'charge' || request_id === null) return []
    if (seen.has(request_id)) return [`${request_id} was charged twice`]
    seen.add(request_id)
    return []
  })
}

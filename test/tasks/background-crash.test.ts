// Background responses over kill -9: each is charged once or not at all, and none is lost in silence.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Sandbox } from '../../sandbox/server.ts'
import type { CrashPoint } from '../../src/lib/crash-point.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { readAccount } from '../support/books.ts'
import { until } from '../support/read.ts'
import { isOver, readTaskLedger, readTasks } from '../support/task-books.ts'
import { ask, backgroundSandbox, create, startBackground } from '../support/tasks/background.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: background responses over kills on PostgreSQL (set TEST_POSTGRES_URL)')
}

interface Case {
  model: string
  point: CrashPoint
  /** How it ends, and how often its upstream was asked. */
  state: 'succeeded' | 'failed'
  sent: number
}

const all: readonly Case[] = [
  // Nothing was sent: the next gateway makes the call.
  { model: 'over-chat', point: 'response-kept', state: 'succeeded', sent: 1 },
  { model: 'over-chat', point: 'response-claimed', state: 'succeeded', sent: 1 },
  // It may have been sent: free, and never sent again.
  { model: 'over-chat', point: 'response-begun', state: 'failed', sent: 0 },
  { model: 'over-chat', point: 'response-answered', state: 'failed', sent: 1 },
  { model: 'over-chat', point: 'task-ending', state: 'failed', sent: 1 },
  // Its end was durable.
  { model: 'over-chat', point: 'task-ended', state: 'succeeded', sent: 1 },
  // The upstream has it: the next gateway adopts it.
  { model: 'over-responses', point: 'task-queued', state: 'succeeded', sent: 1 },
  { model: 'over-responses', point: 'task-ending', state: 'succeeded', sent: 1 },
  { model: 'over-responses', point: 'task-ended', state: 'succeeded', sent: 1 },
]

/** Where gateways share a database, another question is who owns a call. */
const shared: readonly CrashPoint[] = ['response-claimed', 'response-begun']

/** Far longer than it takes; a machine may be busy. */
const endMs = 60_000

describe.each([...storeKinds])('background responses over kills on %s', (on) => {
  const cases = on === 'sqlite' ? all : all.filter(({ point }) => shared.includes(point))
  let sandbox: Sandbox
  beforeAll(() => {
    sandbox = backgroundSandbox()
  })
  afterAll(() => sandbox.stop())

  const sentFor = async (word: string): Promise<number> => {
    const { requests } = (await (
      await fetch(`${sandbox.url}/_sandbox/requests`, {
        headers: { authorization: 'Bearer upk-wire-0123456789abcdef' },
      })
    ).json()) as { requests: unknown[] }
    return requests.filter((request) => JSON.stringify(request).includes(word)).length
  }

  test.each(cases.map((each) => [`${each.model} at ${each.point}`, each] as const))(
    '%s',
    async (_, { model, point, state, sent }) => {
      const word = `${model} ${point} ${on}`
      const place = await newPlace(on)
      const first = await startBackground(sandbox, place, { GATEWAY_CRASH_AT: point })
      const asked = create(first, model, word, {}, { 'idempotency-key': 'one' }).catch(
        () => undefined,
      )
      await first.exited
      await asked
      const gateway = await startBackground(sandbox, place)
      try {
        const [task] = await until(
          'it to end',
          async () => {
            const tasks = await readTasks(gateway)
            return tasks.length === 1 && tasks.every(isOver) ? tasks : undefined
          },
          endMs,
        )
        expect(task).toMatchObject({ state })
        const kinds = (await readTaskLedger(gateway))
          .filter((entry) => entry.task_id === task!.id)
          .map(({ kind }) => kind as string)
          .sort()
        const charged = state === 'succeeded' ? ['charge'] : []
        expect(kinds).toEqual([...charged, 'hold', 'release'])
        expect((await readAccount(gateway)).held).toBe('0.00')
        expect(await sentFor(word)).toBe(sent)
        const shown = await ask(gateway, 'GET', `/${task!.id}`)
        expect(shown.body.status).toBe(state === 'succeeded' ? 'completed' : 'failed')
        const again = await create(gateway, model, word, {}, { 'idempotency-key': 'one' })
        expect([again.status, again.body.id]).toEqual([200, task!.id])
        const { body: losses } = await gateway.admin('GET', '/losses')
        const reasons = losses.items.map(({ reason }: { reason: string }) => reason)
        expect(reasons).toEqual(state === 'failed' ? ['unknown_create'] : [])
        expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
      } finally {
        await gateway.stop()
        await place.remove()
      }
    },
    2 * endMs,
  )
})

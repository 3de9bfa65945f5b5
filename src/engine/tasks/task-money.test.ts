// Whatever an upstream reports, in any order and at any time: a hold ends once, a charge lies
// within it, the first end is final, and the balance is the sum of the entries.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { auditBooks } from '../../billing/proof/audit.ts'
import type { Checked, Started, TaskReport } from '../../contract/provider.ts'
import { isEnd, type Task } from '../../contract/task.ts'
import { listTaskRows } from '../../store/tasks/list-tasks.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { cancelVideo } from './cancel-task.ts'
import { advanceTask } from './poll/advance-task.ts'
import {
  anError,
  newTaskEngine,
  says,
  succeeded,
  type TaskEngine,
  video,
} from './test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the money of tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const opening = 10_000_000_000_000n
/** What a task costs does not depend on the database; that the rows hold it does. */
const runs = { sqlite: 60, postgres: 15 }

const count = fc.option(
  fc.oneof(fc.integer({ min: -5, max: 30 }), fc.double({ min: -1, max: 20 })),
  { nil: undefined },
)
const report: fc.Arbitrary<TaskReport> = fc.oneof(
  fc.record({
    state: fc.constantFrom('queued' as const, 'running' as const),
    progress: fc.integer({ min: -10, max: 200 }),
  }),
  fc.record({ has: fc.integer({ min: 0, max: 3 }).map((n) => n > 0), seconds: count }).map(
    ({ has, seconds }): TaskReport => ({
      state: 'succeeded',
      media: has ? [video] : [],
      usage: seconds === undefined ? {} : { outputSeconds: seconds },
      raw: {},
    }),
  ),
  fc.constant<TaskReport>({ state: 'failed', error: anError(), raw: {} }),
  fc.constant<TaskReport>({ state: 'cancelled' }),
  fc.constant<TaskReport>({ state: 'missing' }),
)
const checked: fc.Arbitrary<Checked> = fc.oneof(
  { weight: 4, arbitrary: report.map(says) },
  { weight: 1, arbitrary: fc.constant<Checked>({ kind: 'failed', error: anError() }) },
)
const step = fc.record({
  waitMs: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(500, 5_000, 40_000, 700_000) },
    { weight: 1, arbitrary: fc.constantFrom(0, 20_000_000, 90_000_000) },
  ),
  checked: fc.array(checked, { minLength: 1, maxLength: 3 }),
  cancel: fc.option(fc.constantFrom('cancelled' as const, 'refused' as const), {
    nil: undefined,
    freq: 1,
  }),
})
const start = fc.oneof(
  { weight: 8, arbitrary: fc.constant('started' as const) },
  { weight: 2, arbitrary: fc.constantFrom('refused' as const, 'unknown' as const) },
)
const story = fc.record({
  seconds: fc.integer({ min: 2, max: 15 }),
  start,
  steps: fc.array(step, { minLength: 2, maxLength: 7 }),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Always among them, so that something is charged in every run. */
const plainStory = {
  seconds: 5,
  start: 'started' as const,
  steps: [{ waitMs: 5_000 as const, checked: [succeeded(5)], cancel: undefined }],
}

const startedAs = (kind: Exclude<Started['kind'], 'finished'>, upstreamId: string): Started =>
  kind === 'started'
    ? { kind, upstreamId, upstreamRequestId: undefined }
    : { kind, error: anError() }

describe.each([...storeKinds])('the money of tasks on %s', (on) => {
  let it: TaskEngine
  let created = 0

  beforeAll(async () => {
    it = await newTaskEngine(on, opening)
  })
  afterAll(() => it.close())

  const newest = async (): Promise<Task> =>
    it.row((await listTaskRows(it.engine.store.read, { limit: 1 })).items[0]!.id)

  /** Concurrent polls with old and new leases, and perhaps a cancel meanwhile. */
  const play = async (id: string, { waitMs, checked, cancel }: Step) => {
    it.clock.ms += waitMs
    const leases = await it.lease()
    const answers = [...checked]
    it.script.check = () => answers.shift() ?? checked[0]!
    it.script.cancel = () =>
      cancel === 'cancelled' ? { kind: cancel } : { kind: 'refused', error: anError() }
    const works: Promise<unknown>[] = leases.flatMap((leased) =>
      checked.map(() => advanceTask(it.engine, leased)),
    )
    if (cancel !== undefined) works.push(cancelVideo(it.engine, it.token, id))
    await Promise.all(works)
  }

  const checkEnd = async (task: Task) => {
    const entries = await it.entries(task.id)
    const amounts = (kind: string) =>
      entries.filter((entry) => entry.kind === kind).map(({ amountNanos }) => amountNanos)
    expect(isEnd(task.state)).toBe(true)
    expect(amounts('hold')).toEqual([-task.holdNanos])
    expect(amounts('release')).toEqual([task.holdNanos])
    expect(amounts('charge')).toEqual(task.state === 'succeeded' ? [-task.chargeNanos] : [])
    expect(task.chargeNanos >= 0n && task.chargeNanos <= task.holdNanos).toBe(true)
    if (task.state !== 'succeeded') expect(task.chargeNanos).toBe(0n)
  }

  test('adds up after any course of events', async () => {
    let spent = 0n
    await fc.assert(
      fc.asyncProperty(story, async ({ seconds, start: kind, steps }) => {
        it.clock.ms++
        // Failed creates of other runs must not keep this one from being sent.
        it.engine.routing.states.clear()
        it.script.start = () => startedAs(kind, `up-${created++}`)
        await it.create({ seconds })
        let task = await newest()
        for (const each of steps) {
          await play(task.id, each)
          const now = await it.row(task.id)
          expect(now.progress).toBeGreaterThanOrEqual(task.progress)
          if (isEnd(task.state)) expect(now).toEqual(task)
          task = now
        }
        // Nothing lives for longer than a day.
        it.script.check = () => ({ kind: 'failed', error: anError() })
        it.clock.ms += 90_000_000
        await it.advance()
        task = await it.row(task.id)
        await checkEnd(task)
        spent += task.chargeNanos
        const left = [opening - spent, 0n]
        expect(await it.money()).toEqual({ stored: left, memory: left })
      }),
      { numRuns: runs[on], endOnFailure: true, examples: [[plainStory]] },
    )
    expect(await auditBooks(it.engine.store)).toMatchObject({ ok: true, problems: [] })
    expect(spent > 0n).toBe(true)
  })
})

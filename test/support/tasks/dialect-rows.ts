// The table of one task in every dialect: for each state what each dialect says of it, and how a task
// is brought into that state. What is asked of the table is the test's business.
import type { TaskCase } from '../../faults/tasks/fault.ts'
import type { TaskStage } from '../../faults/tasks/stage.ts'
import type { Reply, TaskScript } from '../../faults/tasks/upstream.ts'

const hourMs = 3_600_000
export const native = '/arkvendor/api/v3/contents/generations/tasks'
export const deleting = ['videos', 'arkvendor'] as const
export type Deleting = (typeof deleting)[number]

/** What a dialect says: HTTP status and, of an error, its code. */
export type Says = readonly [status: number, code?: string]

export interface Row {
  state: string
  /** The words of the dialects; null: there is no such task. */
  videos: string | null
  arkvendor: string | null
  vendorg: 'open' | 'done' | 'failed' | 'cancelled' | null
  file: Says
  /** What DELETE says, and the word for it afterwards in `videos`; null: out of sight. */
  deleted: Readonly<Record<Deleting, readonly [Says, string | null]>>
  /** What the upstream does to bring it there. */
  script?: (made: TaskCase, around: { film: string; held: Promise<Reply> }) => Partial<TaskScript>
  /** What is done after it was created. */
  next?: (it: Brought) => Promise<void>
}

export interface Brought {
  made: TaskCase
  stage: TaskStage
  id: string
}

const notReady: Says = [409, 'video_not_ready']
const notAvailable: Says = [409, 'video_not_available']
const conflict: Says = [409, 'task_not_cancellable']
const good: Says = [200]
const poll = ({ stage }: Brought) => stage.poll()

const unchanged = (word: string): Row['deleted'] => ({
  videos: [conflict, word],
  arkvendor: [conflict, word],
})
const hides = (word: string, native: Says): Row['deleted'] => ({
  videos: [good, null],
  arkvendor: [native, word],
})

export const rows: readonly Row[] = [
  {
    state: 'accepted',
    ...{ videos: 'queued', arkvendor: 'queued', vendorg: 'open' },
    file: notReady,
    deleted: unchanged('queued'),
    script: (_, { held }) => ({ create: () => held }),
  },
  {
    state: 'unknown',
    ...{ videos: 'queued', arkvendor: 'queued', vendorg: 'open' },
    file: notReady,
    deleted: unchanged('queued'),
    script: ({ wire }) => ({ create: () => ({ body: wire.createdNone }) }),
  },
  {
    state: 'queued',
    ...{ videos: 'queued', arkvendor: 'queued', vendorg: 'open' },
    file: notReady,
    deleted: { videos: [good, 'cancelled'], arkvendor: [good, 'cancelled'] },
  },
  {
    state: 'running',
    ...{ videos: 'in_progress', arkvendor: 'running', vendorg: 'open' },
    file: notReady,
    deleted: unchanged('in_progress'),
    script: (made) => ({
      check: () => ({ body: made.wire.running(made.wire.idFor(made.name)) }),
      cancel: () => made.wire.tooLate ?? { status: 404 },
    }),
    next: poll,
  },
  {
    state: 'succeeded',
    ...{ videos: 'completed', arkvendor: 'succeeded', vendorg: 'done' },
    file: good,
    deleted: hides('completed', conflict),
    next: poll,
  },
  {
    state: 'failed',
    ...{ videos: 'failed', arkvendor: 'failed', vendorg: 'failed' },
    file: notAvailable,
    deleted: hides('failed', conflict),
    script: ({ wire, name }) => ({
      check: () => ({ body: wire.failed(wire.idFor(name), 'the lens cap was on') }),
    }),
    next: poll,
  },
  {
    state: 'cancelled',
    ...{ videos: 'cancelled', arkvendor: 'cancelled', vendorg: 'cancelled' },
    file: notAvailable,
    deleted: hides('cancelled', good),
    script: ({ wire, name }) => ({
      check: () => ({ body: wire.cancelled!(wire.idFor(name)) }),
    }),
    next: poll,
  },
  {
    state: 'hidden',
    ...{ videos: null, arkvendor: null, vendorg: null },
    file: [404],
    deleted: {
      videos: [[404, 'video_not_found'], null],
      arkvendor: [[404, 'task_not_found'], null],
    },
    async next(it) {
      await it.stage.poll()
      const { status } = await askGateway(it, 'DELETE', `/v1/videos/${it.id}`)
      if (status !== 200) throw new Error(`DELETE answered ${status}`)
    },
  },
  {
    state: 'expired',
    ...{ videos: 'completed', arkvendor: 'succeeded', vendorg: 'done' },
    file: [410, 'video_expired'],
    deleted: hides('completed', conflict),
    script: ({ wire, name }, { film }) => ({
      media: () => ({ status: 403, body: '<Error/>' }),
      // Asked once more, the upstream has forgotten it.
      check: (n) =>
        n === 1
          ? { body: wire.done(wire.idFor(name), { url: film, used: wire.usual.used }) }
          : { status: 404, body: wire.error('gone') },
    }),
    async next(it) {
      await it.stage.poll()
      it.stage.clock.ms += 25 * hourMs
    },
  },
]

/** An upstream that cannot cancel knows neither of these. */
export const exists = ({ state }: Row, { wire }: TaskCase): boolean =>
  state !== 'cancelled' || wire.cancelled !== undefined
export const expectedOf = (row: Row, { wire }: TaskCase): Row =>
  row.state === 'queued' && wire.granted === undefined
    ? { ...row, deleted: unchanged('queued') }
    : row

export const askGateway = (
  { made, stage: { url } }: Brought,
  method: string,
  path: string,
  body?: object,
): Promise<Response> => askAs(made.token, url, method, path, body)

export const askAs = (
  token: string,
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

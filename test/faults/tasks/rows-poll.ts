// Faults of what an upstream says of a task: nothing, nonsense, too late, or the contrary.
import { expect } from 'bun:test'
import { leak } from '../fault.ts'
import { hourMs, minuteMs, noOutput, taskLost } from './codes.ts'
import type { TaskEnding, TaskFault, TaskRun, TaskScene } from './fault.ts'
import type { Reply } from './upstream.ts'
import { type TaskProtocol, taskProtocols } from './wire.ts'

const usual: TaskEnding = { state: 'succeeded', pays: 'usual' }
const worded: readonly TaskProtocol[] = ['vf', 'arkvendor']

const done = ({ wire, id, film }: TaskScene): Reply => ({
  body: wire.done(id, { url: film, used: wire.usual.used }),
})

/** Says each in turn, and then goes on saying the last. */
const inTurn =
  (...replies: Reply[]) =>
  (n: number): Reply =>
    replies[Math.min(n, replies.length) - 1]!

/** Longest a success without its result is asked for again. */
const maxAsked = 6

const noResult = (name: string, url: unknown, protocols = taskProtocols): TaskFault => ({
  row: 'F22',
  name: `called done with ${name}, for ever`,
  protocols,
  script: ({ wire, id }) => ({
    check: () => ({ body: wire.done(id, { url, used: wire.usual.used }) }),
  }),
  ending: { state: 'failed', code: noOutput },
  async course(run) {
    await run.create()
    await run.toEnd()
    expect(run.asked('check').length).toBeLessThanOrEqual(maxAsked)
    expect(run.asked('check').length).toBeGreaterThan(1)
  },
})

const resultRows: TaskFault[] = [
  noResult('no address', null),
  noResult('an empty address', ''),
  noResult('something that is no address', 'film.mp4'),
  {
    row: 'F32',
    name: 'called done without an address, which comes with a later answer',
    script: (scene) => ({
      check: inTurn({ body: scene.wire.done(scene.id, { url: null }) }, done(scene)),
    }),
    ending: usual,
  },
  {
    row: 'F32',
    name: 'called done with an address that has expired already, for ever',
    protocols: ['vf'],
    script: ({ wire, id, film, stage }) => ({
      check: () => {
        const past = Math.floor(stage.clock.ms / 1_000) - 60
        return { body: wire.done(id, { url: `${film}?Expires=${past}`, used: 5 }) }
      },
    }),
    ending: { state: 'failed', code: noOutput },
  },
  {
    row: 'F32',
    name: 'called done with an address that has expired already, and then with a fresh one',
    protocols: ['vf'],
    script: (scene) => ({
      check: (n) => {
        const past = Math.floor(scene.stage.clock.ms / 1_000) - 60
        const stale = scene.wire.done(scene.id, { url: `${scene.film}?Expires=${past}`, used: 5 })
        return n === 1 ? { body: stale } : done(scene)
      },
    }),
    ending: usual,
  },
]

const missing = ({ wire }: TaskScene): Reply => ({ status: 404, body: wire.error('not found') })

/** Runs until it is older than what is allowed to be missing. */
async function growOld(run: TaskRun): Promise<void> {
  await run.create()
  await run.poll(20 * minuteMs)
  await run.poll(minuteMs)
}

const lostRows: TaskFault[] = [
  {
    row: 'F27',
    name: 'vanishes: it runs on for three looks and ten minutes, and is lost then',
    script: (scene) => ({
      check: (n) => (n <= 2 ? { body: scene.wire.running(scene.id) } : missing(scene)),
    }),
    ending: { state: 'failed', code: taskLost },
    async course(run) {
      await growOld(run)
      for (let i = 0; i < 3; i++) expect((await run.poll()).state).toBe('running')
      const since = run.stage.clock.ms
      const seen = await run.toEnd()
      expect(seen.state).toBe('failed')
      expect(run.stage.clock.ms - since).toBeGreaterThan(8 * minuteMs)
      expect(run.stage.clock.ms - since).toBeLessThan(20 * minuteMs)
    },
  },
  {
    row: 'F27',
    name: 'vanishes after ten minutes of silence: one missing answer ends nothing',
    script: (scene) => ({ check: inTurn(missing(scene), missing(scene), done(scene)) }),
    ending: usual,
    async course(run) {
      await run.create()
      expect((await run.poll(20 * minuteMs)).state).toBe('queued')
      expect((await run.poll(5 * minuteMs)).state).toBe('queued')
      await run.toEnd()
    },
  },
  {
    row: 'F27',
    name: 'comes back after it had vanished, and vanishes again: the count begins anew',
    script: (scene) => ({
      check: (n) =>
        n === 4 ? { body: scene.wire.running(scene.id) } : n < 8 ? missing(scene) : done(scene),
    }),
    ending: usual,
    async course(run) {
      await run.create()
      await run.toEnd(3 * minuteMs)
      expect(run.asked('check')).toHaveLength(8)
    },
  },
]

const broken = (name: string, reply: (scene: TaskScene) => Reply): TaskFault => ({
  row: 'F28',
  name: `${name} for ever: it stays as it was, and is given up after a day`,
  script: (scene) => ({
    check: (n) => (n === 1 ? { body: scene.wire.running(scene.id) } : reply(scene)),
  }),
  ending: { state: 'failed', code: 'upstream_timeout' },
  async course(run) {
    const startMs = run.stage.clock.ms
    await run.create()
    expect((await run.poll()).state).toBe('running')
    for (let i = 0; i < 7; i++) expect((await run.poll(3 * hourMs)).state).toBe('running')
    await run.toEnd(2 * hourMs)
    expect(run.stage.clock.ms - startMs).toBeGreaterThan(23 * hourMs)
    expect(run.stage.clock.ms - startMs).toBeLessThan(27 * hourMs)
  },
})

const silenceRows: TaskFault[] = [
  broken('answers with 500 and tells secrets', ({ wire }) => ({
    status: 500,
    body: wire.error(leak),
  })),
  broken('answers with 503 and a page', () => ({ status: 503, body: '<html>busy</html>' })),
  broken('resets every connection', () => ({ reset: true })),
  broken('breaks off every answer', ({ wire, id }) => ({ body: wire.running(id), cutAt: 7 })),
  broken('answers with a page', () => ({ body: '<html>sign in</html>' })),
  {
    row: 'F28',
    name: 'does not answer at all, and then finishes: that counts',
    script: (scene) => ({
      check(n) {
        if (n > 2) return done(scene)
        // Longer than any question may take.
        scene.stage.clock.ms += hourMs
        return { hang: true }
      },
    }),
    ending: usual,
    async course(run) {
      await run.create()
      for (let i = 0; i < 2; i++) expect((await run.poll()).state).toBe('queued')
      await run.toEnd()
    },
  },
  {
    row: 'F28',
    name: 'fails for hours and then finishes: that counts',
    script: (scene) => ({
      check: (n) => (n < 6 ? { status: 502, body: scene.wire.error(leak) } : done(scene)),
    }),
    ending: usual,
    course: async (run) => {
      await run.create()
      await run.toEnd(2 * hourMs)
    },
  },
]

const failedAs = (code: string): TaskEnding => ({ state: 'failed', code })
const words: readonly [string, TaskEnding][] = [
  ...['SUCCEEDED', 'succeeded', 'Success', 'done', 'COMPLETED', 'finished'].map(
    (word): [string, TaskEnding] => [word, usual],
  ),
  ...['FAILED', 'Failure', 'error'].map((word): [string, TaskEnding] => [
    word,
    failedAs('upstream_error'),
  ]),
  ['moderation', failedAs('content_policy_violation')],
  ['CANCELED', { state: 'cancelled' }],
  ['cancelled', { state: 'cancelled' }],
]

const wordRows: TaskFault[] = [
  ...words.map(
    ([word, ending]): TaskFault => ({
      row: 'F29',
      name: `ends with the word ${word}`,
      protocols: worded,
      script: ({ wire, id, film }) => ({
        check: () => ({ body: wire.word!(id, word, { url: film, used: wire.usual.used }) }),
      }),
      ending,
    }),
  ),
  {
    row: 'F29',
    name: 'ends with the word expired',
    protocols: worded,
    script: ({ wire, id }) => ({ check: () => ({ body: wire.word!(id, 'Expired') }) }),
    ending: ({ name }) => failedAs(name === 'vf' ? 'upstream_error' : 'upstream_timeout'),
  },
  {
    row: 'F29',
    name: 'is called by a word nobody knows: it runs on, and ends by its final word',
    protocols: worded,
    script: (scene) => ({
      check: (n) => (n <= 3 ? { body: scene.wire.word!(scene.id, 'Colour-Grading') } : done(scene)),
    }),
    ending: usual,
    async course(run) {
      await run.create()
      for (let i = 0; i < 3; i++) expect((await run.poll()).state).toBe('running')
      await run.toEnd()
    },
  },
  {
    row: 'F29',
    name: 'says neither that it is done nor that it is not: it runs on',
    protocols: ['vendorg'],
    script: (scene) => ({
      check: (n) => (n <= 3 ? { body: { name: scene.id, done: 'SUCCESS' } } : done(scene)),
    }),
    ending: usual,
  },
  {
    row: 'F29',
    name: 'is called by a word nobody knows for ever: it is given up after a day',
    protocols: worded,
    script: ({ wire, id }) => ({ check: () => ({ body: wire.word!(id, 'mastering') }) }),
    ending: failedAs('upstream_timeout'),
    course: async (run) => {
      await run.create()
      await run.toEnd(3 * hourMs)
    },
  },
  {
    row: 'F30',
    name: 'runs, waits again, and runs: shown as running all the while',
    script: (scene) => {
      const { wire, id } = scene
      const [waiting, running] = [{ body: wire.waiting(id) }, { body: wire.running(id) }]
      return { check: inTurn(waiting, running, waiting, waiting, running, done(scene)) }
    },
    ending: usual,
  },
]

export const pollRows: readonly TaskFault[] = [
  ...resultRows,
  ...lostRows,
  ...silenceRows,
  ...wordRows,
]

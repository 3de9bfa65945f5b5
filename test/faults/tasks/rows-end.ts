// Faults of how a task ends: an end that is taken back, usage that cannot be right, and clocks that
// are wrong.
import { expect } from 'bun:test'
import type { Answer } from '../caller.ts'
import { leak } from '../fault.ts'
import { hourMs } from './codes.ts'
import type { TaskEnding, TaskFault, TaskScene } from './fault.ts'
import type { Reply } from './upstream.ts'
import type { TaskProtocol, TaskWire } from './wire.ts'

const usual: TaskEnding = { state: 'succeeded', pays: 'usual' }
/** Upstreams that say until when their files can be had. */
const dated: readonly TaskProtocol[] = ['vf', 'arkvendor']

const doneWith = ({ wire, id, film }: TaskScene, used: unknown): Reply => ({
  body: wire.done(id, { url: film, used }),
})
const done = (scene: TaskScene): Reply => doneWith(scene, scene.wire.usual.used)

const contrary: TaskFault[] = [
  {
    row: 'F31',
    name: 'fails first and succeeds later: it has failed, in cleaned words',
    script: (scene) => ({
      check: (n) => (n === 1 ? { body: scene.wire.failed(scene.id, leak) } : done(scene)),
    }),
    ending: { state: 'failed', code: 'upstream_error' },
  },
  {
    row: 'F31',
    name: 'succeeds first and fails later, with another film: the first film stays',
    script: (scene) => ({
      check: (n) =>
        n === 1
          ? done(scene)
          : { body: scene.wire.done(scene.id, { url: `${scene.film}2`, used: 1 }) },
    }),
    ending: usual,
    async course(run) {
      await run.create()
      await run.toEnd()
      for (let i = 0; i < 3; i++) await run.poll(hourMs)
      expect((await run.download('videos')).status).toBe(200)
      expect(run.asked('media').map(({ path }) => path)).toEqual(['/media/film.mp4'])
    },
  },
]

/** Half of what is usual. */
const half: Readonly<Record<TaskProtocol, string>> = {
  vf: '2.50',
  arkvendor: '0.50',
  vendorg: '2.50',
}
const usageRow = (
  name: string,
  used: (wire: TaskWire) => unknown,
  pays: Extract<TaskEnding, { state: 'succeeded' }>['pays'],
): TaskFault => ({
  row: 'F33',
  name: `usage that is ${name}`,
  script: (scene) => ({ check: () => doneWith(scene, used(scene.wire)) }),
  ending: { state: 'succeeded', pays },
})

const usageRows: TaskFault[] = [
  usageRow(
    'less than was asked for is charged',
    ({ usual }) => usual.used / 2,
    ({ name }) => half[name],
  ),
  usageRow(
    'more than was asked for is charged as far as the request bounds it',
    ({ usual }) => usual.used * 3,
    'most',
  ),
  usageRow('missing is what was asked for', () => null, 'requested'),
  usageRow('negative is what was asked for', () => -5, 'requested'),
  usageRow('a word is what was asked for', () => 'plenty', 'requested'),
  usageRow('beyond all numbers is what was asked for', () => 1e18, 'requested'),
]

const stepped = (name: string, byMs: number): TaskFault => ({
  row: 'F34',
  name: `the clock of the gateway ${name} while it runs`,
  script: (scene) => ({
    check: (n) => (n <= 3 ? { body: scene.wire.running(scene.id) } : done(scene)),
  }),
  ending: usual,
  async course(run) {
    await run.create()
    await run.poll()
    run.stage.clock.ms += byMs
    await run.toEnd()
    expect((await run.download('videos')).status).toBe(200)
    // Time goes on for those who come after.
    run.stage.clock.ms += Math.max(0, -byMs)
  },
})

const expiryIn = ({ text }: Answer): number =>
  (JSON.parse(text) as { expires_at: number }).expires_at * 1_000

const clockRows: TaskFault[] = [
  stepped('goes back an hour', -hourMs),
  stepped('leaps an hour ahead', hourMs),
  {
    row: 'F34',
    name: 'the clock of the gateway goes back while it is created',
    script: ({ wire, id, stage }) => ({
      create: () => {
        stage.clock.ms -= hourMs
        return { body: wire.created(id) }
      },
    }),
    ending: usual,
  },
  {
    row: 'F34',
    name: 'the upstream says that its address lasts for centuries: nobody is told more than a day',
    protocols: dated,
    script: ({ wire, id, film, stage }) => ({
      check: () => ({
        body: wire.done(id, {
          url: `${film}?Expires=9999999999`,
          used: wire.usual.used,
          atSeconds: Math.floor(stage.clock.ms / 1_000) + 3_600,
        }),
      }),
    }),
    ending: usual,
    async course(run) {
      await run.create()
      await run.toEnd()
      const answer = await run.ask('GET', `/v1/videos/${run.id}`)
      expect(expiryIn(answer)).toBeLessThanOrEqual(run.stage.clock.ms + 24 * hourMs)
      expect(expiryIn(answer)).toBeGreaterThan(run.stage.clock.ms + 23 * hourMs)
    },
  },
  {
    row: 'F34',
    name: 'the clock of the upstream is an hour behind: its film can be fetched',
    protocols: ['arkvendor'],
    script: ({ wire, id, film, stage }) => ({
      check: () => ({
        body: wire.done(id, {
          url: film,
          used: wire.usual.used,
          atSeconds: Math.floor(stage.clock.ms / 1_000) - 3_600,
        }),
      }),
    }),
    ending: usual,
    async course(run) {
      await run.create()
      await run.toEnd()
      expect((await run.download('videos')).status).toBe(200)
    },
  },
]

export const endRows: readonly TaskFault[] = [...contrary, ...usageRows, ...clockRows]

// A cancel that meets the end of its task on the way: the upstream has the last word, and the first
// end that is written stays.
import { expect } from 'bun:test'
import type { Answer } from '../caller.ts'
import { leak } from '../fault.ts'
import type { TaskEnding, TaskFault, TaskRun } from './fault.ts'
import type { TaskProtocol } from './wire.ts'

const usual: TaskEnding = { state: 'succeeded', pays: 'usual' }
const cancelling: readonly TaskProtocol[] = ['vf', 'arkvendor']

const codeOf = ({ text }: Answer): string | undefined =>
  (JSON.parse(text) as { error?: { code: string } }).error?.code

async function expectConflict(answer: Answer): Promise<void> {
  expect([answer.status, codeOf(answer)]).toEqual([409, 'task_not_cancellable'])
}

const inBoth =
  (course: (run: TaskRun, dialect: 'videos' | 'arkvendor') => Promise<void>) =>
  (dialect: 'videos' | 'arkvendor') =>
  (run: TaskRun) =>
    course(run, dialect)

const deleted = (
  name: string,
  fault: Pick<TaskFault, 'script' | 'ending'>,
  course: (run: TaskRun, dialect: 'videos' | 'arkvendor') => Promise<void>,
  protocols = cancelling,
): TaskFault[] =>
  (['videos', 'arkvendor'] as const).map((dialect) => ({
    row: 'F39',
    name: `DELETE in ${dialect} ${name}`,
    protocols,
    ...fault,
    course: inBoth(course)(dialect),
  }))

export const cancelRows: readonly TaskFault[] = [
  ...deleted('is granted', { ending: { state: 'cancelled' } }, async (run, dialect) => {
    await run.create()
    expect((await run.cancel(dialect)).status).toBe(200)
    await run.see()
  }),
  ...deleted(
    'comes too late: the upstream has begun it',
    {
      ending: usual,
      script: ({ wire }) => ({ cancel: () => wire.tooLate! }),
    },
    async (run, dialect) => {
      await run.create()
      await expectConflict(await run.cancel(dialect))
      await run.toEnd()
    },
  ),
  ...deleted(
    'is granted by an upstream whose success was noticed meanwhile: the success stays',
    {
      ending: usual,
      script: ({ wire, stage }) => ({
        cancel: async () => {
          await stage.poll()
          return { body: wire.granted! }
        },
      }),
    },
    async (run, dialect) => {
      await run.create()
      await expectConflict(await run.cancel(dialect))
      await run.see()
    },
  ),
  ...deleted(
    'is granted while a look at its success is under way: it is cancelled',
    { ending: { state: 'cancelled' } },
    async (run, dialect) => {
      const { stage, scene, case: made } = run
      const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      stage.upstream.change(made.name, {
        check: async () => {
          begun.resolve()
          await goOn.promise
          const { wire, id, film } = scene
          return { body: wire.done(id, { url: film, used: wire.usual.used }) }
        },
      })
      await run.create()
      const polling = stage.poll()
      await begun.promise
      expect((await run.cancel(dialect)).status).toBe(200)
      goOn.resolve()
      await polling
      await run.see()
    },
  ),
  ...deleted(
    'is not answered: the task goes on, and ends as the upstream says',
    {
      ending: usual,
      script: ({ wire }) => ({
        cancel: (n) => (n === 1 ? { reset: true } : { status: 500, body: wire.error(leak) }),
      }),
    },
    async (run, dialect) => {
      await run.create()
      for (let i = 0; i < 2; i++) expect((await run.cancel(dialect)).status).toBe(502)
      expect((await run.see()).state).toBe('queued')
      await run.toEnd()
    },
  ),
  ...deleted(
    'is not answered, and the upstream has cancelled it: so it is cancelled',
    {
      ending: { state: 'cancelled' },
      script: ({ wire, id }) => ({
        cancel: () => ({ reset: true }),
        check: () => ({ body: wire.cancelled!(id) }),
      }),
    },
    async (run, dialect) => {
      await run.create()
      expect((await run.cancel(dialect)).status).toBe(502)
      await run.toEnd()
    },
  ),
  ...deleted(
    'twice at once asks for one end',
    {
      ending: { state: 'cancelled' },
      script: ({ wire }) => {
        const both = Promise.withResolvers<void>()
        return {
          cancel: async (n) => {
            if (n === 2) both.resolve()
            await both.promise
            return { body: wire.granted! }
          },
        }
      },
    },
    async (run, dialect) => {
      await run.create()
      const [first, second] = await Promise.all([run.cancel(dialect), run.cancelApart(dialect)])
      expect([first.status, second.status]).toEqual([200, 200])
      await run.see()
    },
  ),
  ...deleted(
    'of what cannot be cancelled is a conflict',
    { ending: usual },
    async (run, dialect) => {
      await run.create()
      await expectConflict(await run.cancel(dialect))
      await run.toEnd()
    },
    ['vendorg'],
  ),
]

// Faults of the one create, and of every call that is answered with another place to go.
import { expect } from 'bun:test'
import { minuteMs } from './codes.ts'
import type { TaskFault, TaskRun, TaskScene } from './fault.ts'
import type { TaskScript } from './upstream.ts'

const unknownCreate = { state: 'refused', status: 504, code: 'upstream_outcome_unknown' } as const

/** Kept and in sight until nobody can expect it any more; then it is over, and free. */
async function keptForLater(run: TaskRun): Promise<void> {
  const { text } = await run.create()
  const id = /video_[0-9a-f]{32}/.exec(text)?.[0]
  expect(id).toBeDefined()
  run.id = id!
  expect((await run.see()).state).toBe('queued')
  const held = await run.stage.admin('GET', `/accounts/${run.case.account}`)
  expect(held.held).not.toBe('0.00')
  expect(await run.toEnd(minuteMs)).toMatchObject({
    state: 'failed',
    code: 'upstream_outcome_unknown',
  })
}

/** The create is answered without an id, and stands in the list all the same. */
function foundLater({ wire, id, film, stage }: TaskScene): Partial<TaskScript> {
  let made: { id: string; atMs: number; body: string } | undefined
  return {
    create: (_, { body }) => {
      made = { id, atMs: stage.clock.ms, body }
      return { body: wire.createdNone }
    },
    list: () => ({ body: wire.list!(made) }),
    check() {
      const done = wire.done(id, { url: film, used: wire.usual.used }) as { output?: object }
      const { input } = JSON.parse(made!.body) as { input?: { prompt: string } }
      const output = { ...done.output, orig_prompt: input?.prompt }
      return { body: wire.name === 'vf' ? { ...done, output } : done }
    },
  }
}

async function firstOnly(run: TaskRun): Promise<void> {
  await run.create()
  await run.toEnd()
  const tail = run.scene.id.replace(/.*\//, '')
  for (const { path } of run.asked('check')) expect(path).toEndWith(tail)
}

const away = (status: number): TaskFault => ({
  row: 'F35',
  name: `a create answered with ${status} is not followed`,
  script: ({ stage }) => ({
    create: () => ({
      status,
      headers: { location: `http://127.0.0.1:${stage.upstream.port}/trap/x` },
    }),
  }),
  ending: { state: 'refused', status: 502, code: 'upstream_error' },
})

export const createRows: readonly TaskFault[] = [
  {
    row: 'F25',
    name: 'a create without an id is kept and never sent again',
    script: ({ wire }) => ({ create: () => ({ body: wire.createdNone }) }),
    ending: unknownCreate,
    course: keptForLater,
  },
  {
    row: 'F25',
    name: 'a create with an empty id is kept and never sent again',
    script: ({ wire }) => ({ create: () => ({ body: wire.created('') }) }),
    ending: unknownCreate,
    course: keptForLater,
  },
  {
    row: 'F25',
    name: 'a create whose answer broke off is kept and never sent again',
    script: ({ wire, id }) => ({ create: () => ({ body: wire.created(id), cutAt: 9 }) }),
    ending: unknownCreate,
    course: keptForLater,
  },
  {
    row: 'F25',
    name: 'a create without an id is found in the list of its upstream, and charged then',
    protocols: ['vf', 'arkvendor'],
    script: foundLater,
    ending: { state: 'succeeded', pays: 'usual' },
    async course(run) {
      const { status, text } = await run.create()
      expect(status).toBe(504)
      run.id = /video_[0-9a-f]{32}/.exec(text)![0]
      expect((await run.see()).state).toBe('queued')
      await run.toEnd()
    },
  },
  {
    row: 'F26',
    name: 'of two ids for one create the first is used, and the second is a loss',
    script: ({ wire, id, otherId }) => ({
      create: () => ({ body: wire.createdTwo(id, otherId) }),
    }),
    ending: { state: 'succeeded', pays: 'usual' },
    async course(run) {
      await firstOnly(run)
      const line = run.stage
        .log()
        .split('\n')
        .find((each) => each.includes(run.scene.otherId))
      expect(line).toContain('losses')
    },
  },
  {
    row: 'F26',
    name: 'an id that stands somewhere else in the answer is not asked for',
    script: ({ wire, id, otherId }) => ({
      create: () => ({ body: wire.createdBesides(id, otherId) }),
    }),
    ending: { state: 'succeeded', pays: 'usual' },
    course: firstOnly,
  },
  {
    row: 'F26',
    name: 'an id that another create got already is not believed',
    ending: { state: 'succeeded', pays: 'usual' },
    creates: 2,
    async course(run) {
      await run.create()
      const second = await run.create()
      expect([second.status, JSON.parse(second.text).error.code]).toEqual([
        504,
        'upstream_outcome_unknown',
      ])
      await run.toEnd()
      while (await run.stage.isBusy()) await run.poll(minuteMs)
    },
  },
  away(302),
  away(307),
  {
    row: 'F35',
    name: 'a look answered with a redirect is not followed and changes nothing',
    script: ({ wire, id, film, stage }) => ({
      check: (n) =>
        n <= 2
          ? { status: 302, headers: { location: `http://127.0.0.1:${stage.upstream.port}/trap/x` } }
          : { body: wire.done(id, { url: film, used: wire.usual.used }) },
    }),
    ending: { state: 'succeeded', pays: 'usual' },
  },
  {
    row: 'F35',
    name: 'a cancel answered with a redirect is not followed and cancels nothing',
    protocols: ['vf', 'arkvendor'],
    script: ({ stage }) => ({
      cancel: () => ({
        status: 307,
        headers: { location: `http://127.0.0.1:${stage.upstream.port}/trap/x` },
      }),
    }),
    ending: { state: 'succeeded', pays: 'usual' },
    async course(run) {
      await run.create()
      const { status } = await run.cancel('videos')
      expect(status).toBe(502)
      expect((await run.see()).state).toBe('queued')
      await run.toEnd()
    },
  },
]

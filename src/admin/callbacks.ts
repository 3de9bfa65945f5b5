// Notices of tasks' ends: sending one once more, and the secret they are signed with. How they are
// sent is the engine's business.
import { z } from 'zod'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Task } from '../contract/task.ts'
import { tryReceiver } from '../engine/callbacks/try-receiver.ts'
import { restartCallback } from '../store/callbacks.ts'
import { findTaskRow } from '../store/tasks.ts'
import { noteChange, notFound, type Resource, readBody, route } from './route.ts'
import { viewTask } from './tasks.ts'

export const trial = z.strictObject({ url: z.string().min(1).max(2_048) })

export const callbacks: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/tasks/:id/callback',
    route(async ({ id }, x) => {
      const task = await findTaskRow(store.read, id)
      if (task === undefined) return notFound('task', id)
      const was = await store.tx(async (tx) => {
        const state = await restartCallback(tx, store.engine, task.id, engine.clock.nowMs())
        if (state === undefined) return undefined
        const change = { before: { state }, after: { state: 'waiting' } }
        await noteChange(tx, x, { action: 'task.callback', subject: task.id, ...change })
        return state
      })
      if (was === undefined) return nothingToTell(task)
      // As it was before the attempt that this is about.
      const view = await viewTask(engine, task)
      engine.callbacks.wake(engine.clock.nowMs())
      return view
    }),
  )

  app.post(
    '/callbacks/test',
    route(async (_, x) => {
      const body = await readBody(x, deps, trial)
      return body instanceof Refusal ? body : tryReceiver(engine, body.url)
    }),
  )

  // What the operator has set is the operator's to know; it does not come out again.
  app.get(
    '/callback-secret',
    route(() =>
      engine.declared.file.callbacks === undefined
        ? { source: 'builtin', secret: engine.callbacks.ownSecret }
        : { source: 'file', secret: null },
    ),
  )
}

const nothingToTell = ({ callbackUrl, finishedAtMs }: Task) =>
  refuse(
    'conflict',
    callbackUrl === undefined
      ? 'the task was created without an address for a callback'
      : finishedAtMs === undefined
        ? 'the task has not ended yet'
        : 'its caller has called the task off, and is not told of it',
  )

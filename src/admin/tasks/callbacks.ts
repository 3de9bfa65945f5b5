// Notices of tasks' ends: sending one once more, and the secret they are signed with. How they are
// sent is the engine's business.
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import { callbackSecrets } from '../../engine/callbacks/callback-secret.ts'
import { tryReceiver } from '../../engine/callbacks/try-receiver.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Account, findAccount, listAccounts } from '../../store/catalog/accounts.ts'
import { advanceRotation } from '../../store/catalog/callback-secrets.ts'
import { restartCallback } from '../../store/tasks/callbacks.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import { noteChange, notFound, type Resource, readBody, route, time } from '../route.ts'
import { viewTask } from './tasks.ts'

export const trial = z.strictObject({
  url: z.string().min(1).max(2_048),
  account: z.string().optional(),
})

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
      if (body instanceof Refusal) return body
      const account = await accountFor(engine, body.account)
      return account instanceof Refusal ? account : tryReceiver(engine, account.id, body.url)
    }),
  )

  app.get(
    '/callback-secret',
    route(async ({ query }) => {
      const account = await accountFor(engine, query('account'))
      return account instanceof Refusal ? account : secretView(engine, account)
    }),
  )

  app.get(
    '/accounts/:id/callback-secret',
    route(async ({ id }) => {
      const account = await findAccount(store.read, id)
      return account === undefined ? notFound('account', id) : secretView(engine, account)
    }),
  )

  app.post(
    '/accounts/:id/callback-secret/rotate',
    route(async ({ id }, x) => {
      const account = await findAccount(store.read, id)
      if (account === undefined) return notFound('account', id)
      if (engine.declared.file.callbacks !== undefined) return setInFile
      await store.tx(async (tx) => {
        await advanceRotation(tx, account.id, x.atMs)
        await noteChange(tx, x, { action: 'account.callback_secret', subject: account.id })
      })
      return secretView(engine, account)
    }),
  )
}

/** The only one there is, unless it is named. */
async function accountFor({ store }: Engine, wanted: string | undefined) {
  if (wanted !== undefined) {
    return (await findAccount(store.read, wanted)) ?? notFound('account', wanted)
  }
  const { items } = await listAccounts(store.read, { limit: 2 })
  if (items.length === 1) return items[0]!
  return refuse('invalid_request', "'account' is missing", { param: 'account' })
}

const setInFile = refuse(
  'conflict',
  'callbacks.secret in the configuration file is used for all accounts; change it there',
)

/** What the operator has set is the operator's to know; it does not come out again. */
async function secretView(engine: Engine, { id, name }: Account): Promise<object> {
  const { source, secret, rotatedAtMs, old } = await callbackSecrets(engine, id)
  return {
    account: name,
    source,
    secret: source === 'file' ? null : secret,
    rotated_at: rotatedAtMs === undefined ? null : time(rotatedAtMs),
    old_until: old === undefined ? null : time(old.untilMs),
  }
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

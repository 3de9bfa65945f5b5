// Callbacks: sending one again, trying a receiver, and the secret they are signed with. How they are
// sent is the engine's business.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { callbackSecrets, type SecretDeps } from '../../engine/callbacks/callback-secret.ts'
import { tryReceiver } from '../../engine/callbacks/try-receiver.ts'
import { type Account, findAccount, listAccounts } from '../../store/catalog/accounts.ts'
import { advanceRotation } from '../../store/catalog/callback-secrets.ts'
import { restartCallback } from '../../store/tasks/callbacks.ts'
import { auditChange, notFound, timeOrNull } from '../answers.ts'
import { forAdministrators, forOperatorsAndMembers, owning } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { callbackSecret, callbackTested, callbackTrial, secretQuery, task } from './task-schema.ts'
import { viewTask } from './task-view.ts'
import { taskRoute } from './tasks.ts'

async function resend({ engine, found, x }: Ask<{ found: Task }>) {
  const { store, clock } = engine
  const was = await store.tx(async (tx) => {
    const state = await restartCallback(tx, store.dialect, found.id, clock.nowMs())
    if (state === undefined) return undefined
    const change = { before: { state }, after: { state: 'waiting' } }
    await auditChange(tx, x, { action: 'task.callback', subject: found.id, ...change })
    return state
  })
  if (was === undefined) return cannotSend(found)
  // As it was before the attempt that this is about.
  const view = await viewTask(engine, found)
  engine.jobs.callbacks.wake()
  return view
}

async function testReceiver({ engine, body }: Ask<{ body: typeof callbackTrial }>) {
  const account = await accountFor(engine, body.account)
  return account instanceof Refusal ? account : tryReceiver(engine, account.id, body.url)
}

async function showSecret({ engine, account }: Ask<{ query: typeof secretQuery }>) {
  const found = account ?? (await accountFor(engine, undefined))
  return found instanceof Refusal ? found : secretView(engine, found)
}

async function rotateSecret({ engine, found: account, x }: Ask<{ found: Account }>) {
  if (engine.declared.file.callbacks !== undefined) return setInFile
  await engine.store.tx(async (tx) => {
    await advanceRotation(tx, account.id, x.atMs)
    await auditChange(tx, x, { action: 'account.callback_secret', subject: account.id })
  })
  return secretView(engine, account)
}

/** The only one there is, unless it is named. */
async function accountFor({ store }: BaseDeps, wanted: string | undefined) {
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
async function secretView(
  engine: SecretDeps,
  { id, name }: Account,
): Promise<View<typeof callbackSecret>> {
  const { source, secret, rotatedAtMs, old } = await callbackSecrets(engine, id)
  return {
    account: name,
    source,
    secret: source === 'file' ? null : secret,
    rotated_at: timeOrNull(rotatedAtMs),
    previous_valid_until: timeOrNull(old?.untilMs),
  }
}

const cannotSend = ({ callbackUrl, finishedAtMs }: Task): Refusal =>
  refuse(
    'conflict',
    callbackUrl === undefined
      ? 'the task was created without an address for a callback'
      : finishedAtMs === undefined
        ? 'the task has not ended yet'
        : 'its caller has called the task off, and is not told of it',
  )

const secretRoute = routesOf({
  tag: 'Tasks',
  thing: 'account',
  param: 'Id or name of an account.',
  permission: owning(forOperatorsAndMembers, 'account'),
  find: ({ store }, id) => findAccount(store.read, id),
})

export const callbackRoutes = [
  taskRoute('POST /tasks/:id/callback', {
    id: 'resendCallback',
    permission: owning(forOperatorsAndMembers, 'task'),
    summary: "Send the callback of a task's end again",
    answer: task,
    refusals: ['conflict'],
    handle: resend,
  }),
  taskRoute('POST /callbacks/test', {
    id: 'tryReceiver',
    permission: forAdministrators,
    summary: 'Send a signed test callback to an address',
    description: 'Under the rules of all callbacks, once. Answers 200 either way.',
    body: callbackTrial,
    examples: { own: { url: 'https://127.0.0.1/hook', account: 'acme' } },
    answer: callbackTested,
    returns: 'What the receiver answered, or why it could not.',
    refusals: ['not_found'],
    handle: testReceiver,
  }),
  taskRoute('GET /callback-secret', {
    id: 'getCallbackSecret',
    permission: forAdministrators,
    summary: 'Get the secret that callbacks of an account are signed with',
    description: 'The account may be left out where there is only one.',
    query: secretQuery,
    answer: callbackSecret,
    returns: 'The secret, unless the operator has set one.',
    handle: showSecret,
  }),
  secretRoute('GET /accounts/:id/callback-secret', {
    id: 'getAccountCallbackSecret',
    summary: 'Get the secret that callbacks of an account are signed with',
    answer: callbackSecret,
    returns: 'The secret, unless the operator has set one.',
    handle: ({ engine, found }) => secretView(engine, found),
  }),
  secretRoute('POST /accounts/:id/callback-secret/rotate', {
    id: 'rotateCallbackSecret',
    summary: 'Give an account another callback secret; the old one signs along for a day',
    answer: callbackSecret,
    returns: 'The new secret.',
    refusals: ['conflict'],
    handle: rotateSecret,
  }),
]

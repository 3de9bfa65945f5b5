// Tasks: listing, looking at one, and cancelling. How a task moves is the engine's business.
import { interfaces } from '../../contract/config-schema/names.ts'
import { Refusal } from '../../contract/errors.ts'
import { cancelTask } from '../../engine/tasks/cancel-task.ts'
import type { PageQuery } from '../../store/index.ts'
import { findTaskRow, listTaskRows, type TaskFilter } from '../../store/tasks/tasks.ts'
import { auditChange, notFound } from '../answers.ts'
import { forAll, forOperatorsAndMembers, owning } from '../permission.ts'
import { type Ask, adminRoute, wrong } from '../route.ts'
import { type taskQuery as TaskQuery, task, taskList, taskQuery } from './task-schema.ts'
import { viewPage, viewTask } from './task-view.ts'

export const tag = 'Tasks'
export const param = "Id of a task, the gateway's or the upstream's."

type Filters = Omit<Ask<{ query: typeof TaskQuery }>['query'], 'account'>

export const filterOf = (
  { model, state, channel, interface: use }: Filters,
  accountId: string | undefined,
  page: PageQuery,
): TaskFilter | Refusal =>
  use === undefined || interfaces.includes(use)
    ? { ...page, accountId, model, state, channel, interface: use }
    : wrong('interface', `must be one of ${interfaces.join(', ')}`)

async function cancel({ engine, id, x }: Ask) {
  const { store } = engine
  const found = await findTaskRow(store.read, id)
  if (found === undefined) return notFound('task', id)
  const cancelled = await cancelTask(engine, found)
  if (cancelled instanceof Refusal) return cancelled
  if (found.state !== 'cancelled') {
    // The upstream had to be asked in between, so the audit entry cannot share the transaction.
    const change = { before: { state: found.state }, after: { state: cancelled.state } }
    await store.tx((tx) =>
      auditChange(tx, x, { action: 'task.cancel', subject: found.id, ...change }),
    )
  }
  return viewTask(engine, cancelled)
}

export const listTasks = adminRoute({
  id: 'listTasks',
  method: 'get',
  path: '/tasks',
  permission: forAll,
  tag,
  summary: 'List tasks of all interfaces, newest first',
  query: taskQuery,
  answer: taskList,
  returns: 'A page of tasks.',
  async handle({ engine, query, account, page }) {
    const filter = filterOf(query, account?.id, page)
    if (filter instanceof Refusal) return filter
    return viewPage(engine, await listTaskRows(engine.store.read, filter))
  },
})

export const taskRoutes = [
  listTasks,
  adminRoute({
    id: 'getTask',
    method: 'get',
    path: '/tasks/:id',
    permission: owning(forAll, 'task'),
    tag,
    summary: 'Get a task',
    param,
    answer: task,
    returns: 'The task, with its callback and every step.',
    async handle({ engine, id }) {
      const found = await findTaskRow(engine.store.read, id)
      return found === undefined ? notFound('task', id) : viewTask(engine, found)
    },
  }),
  adminRoute({
    id: 'cancelTask',
    method: 'post',
    path: '/tasks/:id/cancel',
    permission: owning(forOperatorsAndMembers, 'task'),
    tag,
    summary: 'Cancel a task',
    param,
    answer: task,
    returns: 'The task.',
    refusals: [
      'task_not_found',
      'task_not_cancellable',
      'upstream_error',
      'upstream_invalid_request',
      'upstream_invalid_response',
      'upstream_permission_denied',
      'upstream_rate_limited',
      'upstream_timeout',
      'upstream_unreachable',
    ],
    handle: cancel,
  }),
]

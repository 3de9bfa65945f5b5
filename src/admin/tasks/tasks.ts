// Tasks: listing, looking at one, and cancelling. How a task moves is the engine's business.
import { interfaces } from '../../contract/config-schema/names.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import { endUserAsked } from '../../engine/admission/end-user.ts'
import { cancelTask } from '../../engine/tasks/cancel-task.ts'
import type { PageQuery } from '../../store/index.ts'
import { listTaskRows, type TaskFilter } from '../../store/tasks/list-tasks.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import { auditChange, wrong } from '../answers.ts'
import { forAll, forOperatorsAndMembers, owning } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import type { tagFilters } from '../schema.ts'
import { type taskQuery as TaskQuery, task, taskList, taskQuery } from './task-schema.ts'
import { viewPage, viewTask } from './task-view.ts'

type Filters = Omit<
  Ask<{ query: typeof TaskQuery }>['query'],
  'account' | 'callback' | 'from' | 'to' | 'sort' | 'order' | keyof typeof tagFilters
>

export const filterOf = (
  { model, state, channel, interface: use }: Filters,
  accountId: string | undefined,
  page: PageQuery,
): TaskFilter | Refusal =>
  use === undefined || interfaces.includes(use)
    ? { ...page, accountId, model, state, channel, interface: use }
    : wrong('interface', `must be one of ${interfaces.join(', ')}`)

async function cancel({ engine, found, x }: Ask<{ found: Task }>) {
  const cancelled = await cancelTask(engine, found)
  if (cancelled instanceof Refusal) return cancelled
  if (found.state !== 'cancelled') {
    // The upstream had to be asked in between, so the audit entry cannot share the transaction.
    const change = { before: { state: found.state }, after: { state: cancelled.state } }
    await engine.store.tx((tx) =>
      auditChange(tx, x, { action: 'task.cancel', subject: found.id, ...change }),
    )
  }
  return viewTask(engine, cancelled)
}

export const taskRoute = routesOf({
  tag: 'Tasks',
  thing: 'task',
  param: "Id of a task, the gateway's or the upstream's.",
  permission: owning(forAll, 'task'),
  find: ({ store }, id) => findTaskRow(store.read, id),
})

export const taskRoutes = [
  taskRoute('GET /tasks', {
    id: 'listTasks',
    permission: forAll,
    summary: 'List tasks of all interfaces, newest first',
    query: taskQuery,
    answer: taskList,
    async handle({ engine, query, account, page }) {
      const filter = filterOf(query, account?.id, page)
      if (filter instanceof Refusal) return filter
      const endUser = endUserAsked(engine, account, query.end_user)
      const { callback, tag, from: fromMs, to: toMs } = query
      const tagged = { ...filter, callback, tag, endUser, fromMs, toMs }
      const sorted = { ...tagged, sort: query.sort, isRising: query.order === 'asc' }
      return viewPage(engine, await listTaskRows(engine.store.read, sorted))
    },
  }),
  taskRoute('GET /tasks/:id', {
    id: 'getTask',
    summary: 'Get a task',
    answer: task,
    returns: 'The task, with its callback and every step.',
    handle: ({ engine, found }) => viewTask(engine, found),
  }),
  taskRoute('POST /tasks/:id/cancel', {
    id: 'cancelTask',
    permission: owning(forOperatorsAndMembers, 'task'),
    summary: 'Cancel a task',
    answer: task,
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

// What else can be done about one task: look at a picture it was made from, and have the same made
// again. Both may cost or reach out, so both are bounded and the second is written down.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import type { TaskWish } from '../../engine/tasks/create/accept-task.ts'
import { createTask } from '../../engine/tasks/create/create-task.ts'
import { fetchMedia } from '../../engine/tasks/create/fetch-media.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'
import { imageTypeOf } from '../../lib/text/image-type.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import { noteChange, notFound, type Resource, route } from '../route.ts'
import { viewTask } from './tasks.ts'

/** Pictures that are being fetched for consoles at this moment. */
const mostFetches = 8

export const taskActions: Resource = (app, { engine }) => {
  const { store } = engine
  let fetches = 0

  app.get(
    '/tasks/:id/input',
    route(async ({ id, query }, x) => {
      const task = await findTaskRow(store.read, id)
      if (task === undefined) return notFound('task', id)
      const input = task.request.media[Number(query('part') ?? 0)]
      if (input?.kind !== 'image' || input.url.startsWith('data:')) return notFound('picture', id)
      if (fetches >= mostFetches) {
        return refuse('overloaded', 'many pictures are being fetched', { retryAfterSeconds: 1 })
      }
      fetches++
      try {
        return pictureFrom(x, await fetchMedia(engine, input.url))
      } finally {
        fetches--
      }
    }),
  )

  app.post(
    '/tasks/:id/again',
    route(async ({ id }, x) => {
      const task = await findTaskRow(store.read, id)
      if (task === undefined) return notFound('task', id)
      const token = [...engine.catalog.tokens.values()].find((each) => each.id === task.tokenId)
      const isOver = token?.disabled || (token?.expiresAtMs ?? Infinity) <= x.atMs
      if (token === undefined || isOver) return cannotRepeat('its token cannot be used any more')
      if (task.interface === 'images') return cannotRepeat('pictures are made by a call')
      if (task.request.media.some(({ url }) => url.startsWith('data:'))) {
        return cannotRepeat('some of its inputs were sent as bytes, which are not kept')
      }
      if (task.request.isCut) return cannotRepeat('its texts were too long to be kept whole')
      const ctx = { requestId: x.requestId, atMs: x.atMs, token, ...nobodyWaits() }
      const made = await createTask(engine, ctx, wishOf(task))
      if (made instanceof Refusal) return made
      // It has been made, and an upstream was asked in between: the note comes after it.
      const change = { before: { task: task.id }, after: { task: made.task.id } }
      await store.tx((tx) =>
        noteChange(tx, x, { action: 'task.again', subject: made.task.id, ...change }),
      )
      return viewTask(engine, made.task)
    }, 201),
  )
}

/** Without the caller's own name for it, which is taken, and without anybody to be told. */
const wishOf = (task: Task): TaskWish => {
  const { interface: use, model } = task
  return task.kind === 'video'
    ? { interface: use, model, kind: task.kind, request: task.request }
    : { interface: use, model, kind: task.kind, request: task.request }
}

const nobodyWaits = () => ({
  signal: new AbortController().signal,
  errorEvent: () => new Uint8Array(),
})

const cannotRepeat = (why: string): Refusal =>
  refuse('invalid_request', `the task cannot be made again: ${why}`)

/** Only what begins like a picture is shown as one: a page of the caller's would run as ours. */
function pictureFrom(
  x: Exchange,
  found: Awaited<ReturnType<typeof fetchMedia>>,
): Response | Refusal {
  if ('problem' in found) return refuse('not_found', `it cannot be fetched: ${found.problem}`)
  const type = imageTypeOf(found.bytes)
  if (type === undefined) return refuse('not_found', 'it is not a picture')
  return new Response(found.bytes, { headers: answerHeaders(x, type) })
}

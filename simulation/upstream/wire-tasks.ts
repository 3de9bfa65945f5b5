// Tasks in the four dialects that create them.

import { json, type UpstreamWire, type WireReply, type WireRequest } from './messages.ts'
import type { ReportedState, Work } from './upstream.ts'

const words: Readonly<Record<ReportedState, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  unrecognized: 'WARMING-UP',
  missing: 'UNKNOWN',
  empty: 'SUCCEEDED',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
}

const textAt = (fields: unknown, name: string): string =>
  String((fields as Readonly<Record<string, unknown>> | undefined)?.[name] ?? '')

/** One id, or all of them in a list. */
const named = (made: readonly Work[]): string | string[] =>
  made.length === 1 ? made[0]!.id : made.map(({ id }) => id)

const lastPart = ({ url }: WireRequest): string =>
  decodeURIComponent(url.pathname.split('/').at(-1)!)

const addresses = (work: Work): string[] =>
  Array.from({ length: work.quantity ?? 1 }, (_, at) => `https://files.test/${work.id}/${at}.png`)

export function answerVf(upstreamWire: UpstreamWire, request: WireRequest): WireReply {
  const { upstream } = upstreamWire
  const { pathname, searchParams } = request.url
  if (request.method === 'GET' && pathname === '/api/v1/tasks') {
    const data = upstream.list(searchParams.get('model_name') ?? '').map((work) => ({
      task_id: work.id,
      model_name: work.model,
      status: words[listed(upstreamWire, work)],
      gmt_create: work.createdMs,
    }))
    return json({ data })
  }
  if (request.method === 'GET') return vfAccount(upstreamWire, lastPart(request))
  if (pathname.endsWith('/cancel')) return vfCancel(upstreamWire, pathname.split('/').at(-2)!)
  const parameters = request.body['parameters']
  const isImage = pathname.includes('image-synthesis')
  const made = upstream.make({
    kind: isImage ? 'image' : 'video',
    protocol: 'vf',
    model: textAt(request.body, 'model'),
    prompt: textAt(request.body['input'], 'prompt'),
    requested: Number(textAt(parameters, isImage ? 'n' : 'duration')),
    lines: Number.parseInt(textAt(parameters, 'resolution'), 10),
  })
  return json({ output: { task_id: named(made), task_status: 'PENDING' }, request_id: 'up' })
}

/** A list has the real states, and is not logged as a report. */
function listed({ context }: UpstreamWire, work: Work): ReportedState {
  const nowMs = context.world.wallMs(undefined)
  if (work.cancelledMs !== undefined) return 'cancelled'
  if (nowMs < work.endsMs || work.fate === 'stuck') return 'running'
  return work.fate === 'vanishes' ? 'running' : work.fate
}

function vfAccount({ upstream }: UpstreamWire, id: string): WireReply {
  const state = upstream.report(id)
  const work = upstream.works.get(id)
  if (work === undefined) return json({ code: 'NotFound', message: 'no such task' }, 404)
  const output = { task_id: id, task_status: words[state], orig_prompt: work.prompt }
  if (state !== 'succeeded') {
    const why = state === 'failed' ? { code: 'InternalError', message: 'it broke' } : {}
    return json({ output: { ...output, ...why }, request_id: 'up' })
  }
  if (work.kind === 'image') {
    const results = addresses(work).map((url) => ({ url, orig_prompt: work.prompt }))
    return json({ output: { ...output, results }, usage: { image_count: results.length } })
  }
  const usage =
    work.quantity === undefined ? {} : { output_video_duration: work.quantity, SR: work.lines }
  return json({ output: { ...output, video_url: `https://files.test/${id}.mp4` }, usage })
}

function vfCancel({ upstream }: UpstreamWire, id: string): WireReply {
  const outcome = upstream.cancel(id)
  if (outcome === 'cancelled') return json({ request_id: 'up' })
  const message = 'only a task that is PENDING can be cancelled'
  return json({ code: 'UnsupportedOperation', message }, outcome === 'missing' ? 404 : 400)
}

export function answerArk(upstreamWire: UpstreamWire, request: WireRequest): WireReply {
  const { upstream } = upstreamWire
  const { pathname, searchParams } = request.url
  const isList = pathname.endsWith('/tasks')
  if (request.method === 'GET' && isList) {
    const items = upstream.list(searchParams.get('filter.model') ?? '').map((work) => ({
      id: work.id,
      created_at: Math.floor(work.createdMs / 1000),
      safety_identifier: work.marker,
    }))
    return json({ items, total: items.length })
  }
  if (request.method === 'GET') return arkAccount(upstreamWire, lastPart(request))
  if (request.method === 'DELETE') {
    const outcome = upstream.cancel(lastPart(request))
    if (outcome === 'cancelled') return json({})
    const code = outcome === 'missing' ? 'NotFound' : 'InvalidAction.RunningTaskDeletion'
    return json({ error: { code, message: code } }, outcome === 'missing' ? 404 : 400)
  }
  const [content] = request.body['content'] as { text: string }[]
  const made = upstream.make({
    kind: 'video',
    protocol: 'arkvendor',
    model: textAt(request.body, 'model'),
    prompt: content?.text ?? '',
    marker: textAt(request.body, 'safety_identifier'),
    // About as many tokens as this model's videos of this length have.
    requested: Number(textAt(request.body, 'duration')) * 20_000,
  })
  return json({ id: named(made) })
}

function arkAccount({ upstream, context }: UpstreamWire, id: string): WireReply {
  const state = upstream.report(id)
  const work = upstream.works.get(id)
  if (work === undefined || state === 'missing') {
    return json({ error: { code: 'NotFound', message: 'no such task' } }, 404)
  }
  const seconds = Math.floor(context.world.wallMs(undefined) / 1000)
  const status = words[state].toLowerCase()
  const account = { id, status, updated_at: seconds, safety_identifier: work.marker }
  if (state === 'failed') return json({ ...account, error: { code: 'Bad', message: 'it broke' } })
  if (state !== 'succeeded') return json(account)
  const usage = work.quantity === undefined ? {} : { completion_tokens: work.quantity }
  return json({ ...account, content: { video_url: `https://files.test/${id}.mp4` }, usage })
}

export function answerImgvendor(upstreamWire: UpstreamWire, request: WireRequest): WireReply {
  const { upstream } = upstreamWire
  if (request.method === 'GET') return imgAccount(upstreamWire, lastPart(request))
  const marker = textAt(request.body, 'external_task_id')
  const [work] = upstream.make({
    kind: 'image',
    protocol: 'imgvendor',
    model: textAt(request.body, 'model_name'),
    prompt: textAt(request.body, 'prompt'),
    marker,
    requested: Number(textAt(request.body, 'n')),
  })
  const task_info = { external_task_id: marker }
  return json({ code: 0, data: { task_id: work!.id, task_status: 'submitted', task_info } })
}

const imgWords: Partial<Record<ReportedState, string>> = {
  queued: 'submitted',
  running: 'processing',
  empty: 'succeed',
  succeeded: 'succeed',
}

/** By its id or by its external id. */
function imgAccount({ upstream }: UpstreamWire, name: string): WireReply {
  const byName = [...upstream.works.values()].find(({ marker }) => marker === name)
  const work = upstream.works.get(name) ?? byName
  const state = work === undefined ? 'missing' : upstream.report(work.id)
  if (work === undefined || state === 'missing') {
    return json({ code: 1203, message: 'no such task' }, 404)
  }
  const images = addresses(work).map((url, index) => ({ index, url }))
  const data = {
    task_id: work.id,
    task_status: imgWords[state] ?? words[state],
    task_status_msg: state === 'failed' ? 'it broke' : '',
    task_info: { external_task_id: work.marker },
    ...(state === 'succeeded' && { task_result: { images } }),
  }
  return json({ code: 0, data })
}

/** The reply has the images, or says that there are none. */
export function answerImages({ upstream }: UpstreamWire, request: WireRequest): WireReply {
  const [work] = upstream.make({
    kind: 'image',
    protocol: 'images',
    model: textAt(request.body, 'model'),
    prompt: textAt(request.body, 'prompt'),
    requested: Number(textAt(request.body, 'n')),
  })
  if (work!.fate === 'succeeded') {
    work!.reported.push('succeeded')
    return json({ created: 1, data: addresses(work!).map((url) => ({ url })) })
  }
  if (work!.fate === 'empty') return json({ created: 1, data: [] })
  work!.reported.push('failed')
  return json({ error: { code: 'internal', message: 'it broke' } }, 500)
}

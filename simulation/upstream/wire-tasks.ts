// Tasks in the words of the four dialects that make them.

import type { Saying, Work } from './upstream.ts'
import { type Asked, json, type Speaker, type Told } from './wire.ts'

const words: Readonly<Record<Saying, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  strange: 'WARMING-UP',
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

const lastPart = ({ url }: Asked): string => decodeURIComponent(url.pathname.split('/').at(-1)!)

const addresses = (work: Work): string[] =>
  Array.from({ length: work.quantity ?? 1 }, (_, at) => `https://files.test/${work.id}/${at}.png`)

export function answerVf(speaker: Speaker, asked: Asked): Told {
  const { upstream } = speaker
  const { pathname, searchParams } = asked.url
  if (asked.method === 'GET' && pathname === '/api/v1/tasks') {
    const data = upstream.list(searchParams.get('model_name') ?? '').map((work) => ({
      task_id: work.id,
      model_name: work.model,
      status: words[listed(speaker, work)],
      gmt_create: work.createdMs,
    }))
    return json({ data })
  }
  if (asked.method === 'GET') return vfAccount(speaker, lastPart(asked))
  if (pathname.endsWith('/cancel')) return vfCancel(speaker, pathname.split('/').at(-2)!)
  const parameters = asked.body['parameters']
  const isImage = pathname.includes('image-synthesis')
  const made = upstream.make({
    kind: isImage ? 'image' : 'video',
    protocol: 'vf',
    model: textAt(asked.body, 'model'),
    prompt: textAt(asked.body['input'], 'prompt'),
    asked: Number(textAt(parameters, isImage ? 'n' : 'duration')),
    lines: Number.parseInt(textAt(parameters, 'resolution'), 10),
  })
  return json({ output: { task_id: named(made), task_status: 'PENDING' }, request_id: 'up' })
}

/** In a list the truth is told, and nothing is written down of it. */
function listed({ stage }: Speaker, work: Work): Saying {
  const nowMs = stage.world.wallMs(undefined)
  if (work.cancelledMs !== undefined) return 'cancelled'
  if (nowMs < work.endsMs || work.fate === 'stuck') return 'running'
  return work.fate === 'vanishes' ? 'running' : work.fate
}

function vfAccount({ upstream }: Speaker, id: string): Told {
  const said = upstream.say(id)
  const work = upstream.works.get(id)
  if (work === undefined) return json({ code: 'NotFound', message: 'no such task' }, 404)
  const output = { task_id: id, task_status: words[said], orig_prompt: work.prompt }
  if (said !== 'succeeded') {
    const why = said === 'failed' ? { code: 'InternalError', message: 'it broke' } : {}
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

function vfCancel({ upstream }: Speaker, id: string): Told {
  const outcome = upstream.cancel(id)
  if (outcome === 'cancelled') return json({ request_id: 'up' })
  const message = 'only a task that is PENDING can be cancelled'
  return json({ code: 'UnsupportedOperation', message }, outcome === 'missing' ? 404 : 400)
}

export function answerArk(speaker: Speaker, asked: Asked): Told {
  const { upstream } = speaker
  const { pathname, searchParams } = asked.url
  const isList = pathname.endsWith('/tasks')
  if (asked.method === 'GET' && isList) {
    const items = upstream.list(searchParams.get('filter.model') ?? '').map((work) => ({
      id: work.id,
      created_at: Math.floor(work.createdMs / 1000),
      safety_identifier: work.marker,
    }))
    return json({ items, total: items.length })
  }
  if (asked.method === 'GET') return arkAccount(speaker, lastPart(asked))
  if (asked.method === 'DELETE') {
    const outcome = upstream.cancel(lastPart(asked))
    if (outcome === 'cancelled') return json({})
    const code = outcome === 'missing' ? 'NotFound' : 'InvalidAction.RunningTaskDeletion'
    return json({ error: { code, message: code } }, outcome === 'missing' ? 404 : 400)
  }
  const [content] = asked.body['content'] as { text: string }[]
  const made = upstream.make({
    kind: 'video',
    protocol: 'arkvendor',
    model: textAt(asked.body, 'model'),
    prompt: content?.text ?? '',
    marker: textAt(asked.body, 'safety_identifier'),
    // Of the order of what this model's films of so many seconds come to.
    asked: Number(textAt(asked.body, 'duration')) * 20_000,
  })
  return json({ id: named(made) })
}

function arkAccount({ upstream, stage }: Speaker, id: string): Told {
  const said = upstream.say(id)
  const work = upstream.works.get(id)
  if (work === undefined || said === 'missing') {
    return json({ error: { code: 'NotFound', message: 'no such task' } }, 404)
  }
  const seconds = Math.floor(stage.world.wallMs(undefined) / 1000)
  const status = words[said].toLowerCase()
  const account = { id, status, updated_at: seconds, safety_identifier: work.marker }
  if (said === 'failed') return json({ ...account, error: { code: 'Bad', message: 'it broke' } })
  if (said !== 'succeeded') return json(account)
  const usage = work.quantity === undefined ? {} : { completion_tokens: work.quantity }
  return json({ ...account, content: { video_url: `https://files.test/${id}.mp4` }, usage })
}

export function answerImgvendor(speaker: Speaker, asked: Asked): Told {
  const { upstream } = speaker
  if (asked.method === 'GET') return imgAccount(speaker, lastPart(asked))
  const marker = textAt(asked.body, 'external_task_id')
  const [work] = upstream.make({
    kind: 'image',
    protocol: 'imgvendor',
    model: textAt(asked.body, 'model_name'),
    prompt: textAt(asked.body, 'prompt'),
    marker,
    asked: Number(textAt(asked.body, 'n')),
  })
  const task_info = { external_task_id: marker }
  return json({ code: 0, data: { task_id: work!.id, task_status: 'submitted', task_info } })
}

const imgWords: Partial<Record<Saying, string>> = {
  queued: 'submitted',
  running: 'processing',
  empty: 'succeed',
  succeeded: 'succeed',
}

/** By its id or by the name it was given. */
function imgAccount({ upstream }: Speaker, name: string): Told {
  const byName = [...upstream.works.values()].find(({ marker }) => marker === name)
  const work = upstream.works.get(name) ?? byName
  const said = work === undefined ? 'missing' : upstream.say(work.id)
  if (work === undefined || said === 'missing') {
    return json({ code: 1203, message: 'no such task' }, 404)
  }
  const images = addresses(work).map((url, index) => ({ index, url }))
  const data = {
    task_id: work.id,
    task_status: imgWords[said] ?? words[said],
    task_status_msg: said === 'failed' ? 'it broke' : '',
    task_info: { external_task_id: work.marker },
    ...(said === 'succeeded' && { task_result: { images } }),
  }
  return json({ code: 0, data })
}

/** Here the answer has what was made, or says that nothing was. */
export function answerPictures({ upstream }: Speaker, asked: Asked): Told {
  const [work] = upstream.make({
    kind: 'image',
    protocol: 'images',
    model: textAt(asked.body, 'model'),
    prompt: textAt(asked.body, 'prompt'),
    asked: Number(textAt(asked.body, 'n')),
  })
  if (work!.fate === 'succeeded') {
    work!.told.push('succeeded')
    return json({ created: 1, data: addresses(work!).map((url) => ({ url })) })
  }
  if (work!.fate === 'empty') return json({ created: 1, data: [] })
  work!.told.push('failed')
  return json({ error: { code: 'internal', message: 'it broke' } }, 500)
}

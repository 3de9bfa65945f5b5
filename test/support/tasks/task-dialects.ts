// Tasks in every dialect, as callers speak them: how one is asked for, looked at and cancelled, and
// what of the answer tells its end.
import { apiToken } from '../gateway.ts'
import type { Input } from './task-wishes.ts'

/** `form` is `videos` with a multipart body. */
export type WriteDialect = 'videos' | 'form' | 'arkvendor' | 'vendorg' | 'imgvendor'
const videoDialects = ['videos', 'arkvendor', 'vendorg'] as const
export type ReadDialect = (typeof videoDialects)[number] | 'imgvendor'

/** A picture is read where it was asked for; a video everywhere. */
export const dialectsOf = (id: string): readonly ReadDialect[] =>
  id.startsWith('image_') ? ['imgvendor'] : videoDialects

export type Sight = 'live' | 'succeeded' | 'failed' | 'cancelled'

const nativePath = '/arkvendor/api/v3/contents/generations/tasks'
const operationsPath = '/vendorg/v1beta'
const imagesPath = '/imgvendor/v1/images/generations'

const ask = (url: string, method: string, body?: string | FormData) =>
  fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${apiToken}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    // A connection of its own, because a pooled one is tried twice when it turns out to be dead.
    keepalive: false,
  })

export function create(url: string, input: Input): Promise<Response> {
  const { dialect, model, prompt, callbackUrl: callback_url } = input
  if (dialect === 'imgvendor') {
    const order = { model_name: model, prompt, n: 2, callback_url }
    return ask(`${url}${imagesPath}`, 'POST', JSON.stringify(order))
  }
  if (dialect === 'arkvendor') {
    const content = [{ type: 'text', text: prompt }]
    const order = { model, content, ratio: '16:9', duration: 5, callback_url }
    return ask(`${url}${nativePath}`, 'POST', JSON.stringify(order))
  }
  if (dialect === 'vendorg') {
    const order = { instances: [{ prompt }], parameters: { durationSeconds: 4 } }
    const path = `${operationsPath}/models/${model}:predictLongRunning`
    return ask(`${url}${path}`, 'POST', JSON.stringify(order))
  }
  const fields = { model, prompt, ...lengthOf[model] }
  if (dialect === 'videos') return ask(`${url}/v1/videos`, 'POST', JSON.stringify(fields))
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return ask(`${url}/v1/videos`, 'POST', form)
}

const lengthOf: Readonly<Record<string, Record<string, string>>> = {
  'vfa-2.7-t2v': { seconds: '5', resolution: '720p' },
  'vidmodel-1-0-pro': { seconds: '5', resolution: '1080p' },
  'vendorg-video-1': { seconds: '4', resolution: '720p' },
}

/** The id by which every dialect knows it. */
export function idIn(dialect: WriteDialect, text: string): string {
  const body = JSON.parse(text) as {
    id: string
    platform_id: string
    name: string
    data: { task_id: string }
  }
  if (dialect === 'imgvendor') return body.data.task_id
  if (dialect === 'arkvendor') return body.platform_id
  if (dialect === 'vendorg') return body.name.replace(/^.*operations\//, 'video_')
  return body.id
}

const pathOf: Readonly<Record<ReadDialect, (id: string) => string>> = {
  videos: (id) => `/v1/videos/${id}`,
  arkvendor: (id) => `${nativePath}/${id}`,
  vendorg: (id) => `${operationsPath}/operations/${id}`,
  imgvendor: (id) => `${imagesPath}/${id}`,
}

export const poll = (url: string, dialect: ReadDialect, id: string): Promise<Response> =>
  ask(url + pathOf[dialect](id), 'GET')

export const cancel = (
  url: string,
  dialect: 'videos' | 'arkvendor',
  id: string,
): Promise<Response> => ask(url + pathOf[dialect](id), 'DELETE')

export function sightIn(dialect: ReadDialect, text: string): Sight {
  if (dialect === 'vendorg') return operationSight(text)
  if (dialect === 'imgvendor') return imageSight(text)
  const { status } = JSON.parse(text) as { status: string }
  if (status === 'completed' || status === 'succeeded') return 'succeeded'
  return status === 'failed' || status === 'cancelled' ? status : 'live'
}

function imageSight(text: string): Sight {
  const { data } = JSON.parse(text) as { data: { task_status: string } }
  if (data.task_status === 'succeed') return 'succeeded'
  return data.task_status === 'failed' ? 'failed' : 'live'
}

function operationSight(text: string): Sight {
  const { done, error, response } = JSON.parse(text) as {
    done: boolean
    error?: { reason: string }
    response?: unknown
  }
  if (!done) return 'live'
  if (response !== undefined) return 'succeeded'
  return error?.reason === 'cancelled' ? 'cancelled' : 'failed'
}

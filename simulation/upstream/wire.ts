// How the upstream speaks: requests as they arrive over the wire, answers as they leave. One table of
// addresses; what each dialect says is in wire-tasks.ts and wire-text.ts.
import type { Stage } from '../world/context.ts'
import type { Upstream } from './upstream.ts'
import { answerArk, answerImgvendor, answerPictures, answerVf } from './wire-tasks.ts'
import { answerChat } from './wire-text.ts'

export interface Asked {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  body: Readonly<Record<string, unknown>>
}

export interface Told {
  status: number
  body: string
  headers?: Readonly<Record<string, string>>
  /** Where it comes bit by bit. */
  chunks?: readonly string[]
}

export interface Speaker {
  stage: Stage
  upstream: Upstream
}

export const json = (body: unknown, status = 200): Told => ({ status, body: JSON.stringify(body) })

type Dialect = (speaker: Speaker, asked: Asked) => Told

const dialects: Readonly<Record<string, Dialect>> = {
  'vf.test': answerVf,
  'ark.test': answerArk,
  'img.test': answerImgvendor,
  'draw.test': answerPictures,
  'talk-a.test': answerChat,
  'talk-b.test': answerChat,
}

export function answer(speaker: Speaker, asked: Asked): Told {
  const { upstream, stage } = speaker
  const { random, faults } = stage
  if (upstream.isBusy) {
    return random.upstream.chance(0.5)
      ? { ...json({ error: { code: 'rate', message: 'slow down' } }, 429), headers: retry }
      : json({ error: { message: 'not now' } }, 503)
  }
  const isCreate = asked.method === 'POST' && !asked.url.pathname.endsWith('/cancel')
  if (isCreate && random.upstream.chance(faults.upstream.refuses)) {
    const refusal = { code: 'InvalidParameter', message: 'this is not to be made' }
    return json({ ...refusal, error: refusal }, 400)
  }
  const dialect = dialects[asked.url.host]
  if (dialect === undefined) throw new Error(`nobody listens at ${asked.url.host}`)
  return dialect(speaker, asked)
}

const retry = { 'retry-after': '2' } as const

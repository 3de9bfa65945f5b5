// The wire format of the simulated upstream: requests as they arrive, replies as they leave. One table of
// hosts; the dialects are in wire-tasks.ts and wire-text.ts.
import { json, type UpstreamWire, type WireReply, type WireRequest } from './messages.ts'
import { answerArk, answerImages, answerImgvendor, answerVf } from './wire-tasks.ts'
import { answerChat, answerResponses } from './wire-text.ts'

type Dialect = (upstreamWire: UpstreamWire, request: WireRequest) => WireReply

const dialects: Readonly<Record<string, Dialect>> = {
  'vf.test': answerVf,
  'ark.test': answerArk,
  'img.test': answerImgvendor,
  'draw.test': answerImages,
  'talk-a.test': answerChat,
  'talk-b.test': answerChat,
  'think.test': answerResponses,
}

export function answer(upstreamWire: UpstreamWire, request: WireRequest): WireReply {
  const { upstream, context } = upstreamWire
  const { random, faults } = context
  if (upstream.isBusy) {
    return random.upstream.chance(0.5)
      ? { ...json({ error: { code: 'rate', message: 'slow down' } }, 429), headers: retry }
      : json({ error: { message: 'not now' } }, 503)
  }
  const isCreate = request.method === 'POST' && !request.url.pathname.endsWith('/cancel')
  if (isCreate && random.upstream.chance(faults.upstream.refuses)) {
    const refusal = { code: 'InvalidParameter', message: 'this is not to be made' }
    return json({ ...refusal, error: refusal }, 400)
  }
  const dialect = dialects[request.url.host]
  if (dialect === undefined) throw new Error(`no upstream at ${request.url.host}`)
  return dialect(upstreamWire, request)
}

const retry = { 'retry-after': '2' } as const

// Upstreams that speak the generate style. The model is named in the path, never in the body of a
// call for one answer.
import type { Provider, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { askForModels } from '../common/list-models.ts'
import { servedBy } from '../common/served-as.ts'
import { counterFor } from '../text/count-tokens.ts'
import { senderFor } from '../text/sender.ts'
import type { TextStyle } from '../text/style.ts'
import { readAnswer } from './read-answer.ts'
import { repairAnswer } from './repair.ts'
import { stream } from './stream.ts'

export const generateStyle: TextStyle = {
  protocol: 'generate',
  path: '/v1beta/models/{model}:generateContent',
  pathOf,
  noun: 'an answer of the generate style',
  headers: (call, upstream) => ({ ...keyHeader(upstream), ...sharedAs(call, upstream) }),
  fieldsFor,
  repair: repairAnswer,
  readAnswer,
  servedIn: (answer) => servedBy(answer.header('x-gemini-service-tier')),
  stream,
}

export const generate: Provider = {
  protocol: generateStyle.protocol,
  path: generateStyle.path,
  listModels: (upstream, stop) =>
    askForModels('/v1beta/models?pageSize=1000', keyHeader(upstream), upstream, stop),
  text: {
    send: senderFor(generateStyle),
    countTokens: counterFor(generateStyle, (upstream) => countQuestion(upstream)),
  },
}

const keyHeader = ({ key }: Pick<Upstream, 'key'>): Record<string, string> => ({
  'x-goog-api-key': key,
})

const addressOf = ({ model, vertex }: Upstream, method: string): string =>
  `${vertex === undefined ? '/v1beta' : vertexPlace(vertex)}/models/${encodeURIComponent(model)}:${method}`

const vertexPlace = ({ project, location }: NonNullable<Upstream['vertex']>): string =>
  `/v1/projects/${encodeURIComponent(project)}/locations/${location}/publishers/google`

/** Streams come as server-sent events, however the caller wants them. */
function pathOf({ method = 'generateContent', stream }: TextCall, upstream: Upstream): string {
  return stream
    ? `${addressOf(upstream, 'streamGenerateContent')}?alt=sse`
    : addressOf(upstream, method)
}

const countQuestion = (upstream: Upstream) => ({
  path: addressOf(upstream, 'countTokens'),
  fields: ['totalTokens', 'total_tokens'],
})

const sharedTiers: Readonly<Record<string, string>> = {
  __proto__: null as never,
  ...{ priority: 'priority', fast: 'priority', flex: 'flex' },
}

/** Vertex is asked for a service tier by a header, and takes no field for it. */
function sharedAs({ asks }: TextCall, { vertex }: Upstream): Record<string, string> {
  const tier = vertex && asks?.find(({ kind }) => kind === 'tier')?.name
  const type = tier === undefined ? undefined : sharedTiers[tier]
  return type === undefined ? {} : { 'x-vertex-ai-llm-shared-request-type': type }
}

const withoutTier = { serviceTier: '', service_tier: '' }

function fieldsFor(call: TextCall, upstream: Upstream): Record<string, string> | undefined {
  const named = namesFor(call, upstream)
  return upstream.vertex === undefined ? named : { ...named, ...withoutTier }
}

/** Where the body names the model, too, it is the upstream's. */
function namesFor({ fields }: TextCall, upstream: Upstream): Record<string, string> | undefined {
  const { model, requests, generateContentRequest, generate_content_request: counted } = fields
  const inner = generateContentRequest ?? counted
  if (model === undefined && requests === undefined && inner === undefined) return undefined
  const name = `models/${upstream.model}`
  const inside =
    generateContentRequest == null ? 'generate_content_request' : 'generateContentRequest'
  return {
    ...(model !== undefined && { model: JSON.stringify(name) }),
    ...(Array.isArray(requests) && {
      requests: JSON.stringify(requests.map((each) => named(each, name))),
    }),
    ...(isObject(inner) && { [inside]: JSON.stringify(named(inner, name)) }),
  }
}

const named = (request: unknown, model: string): unknown =>
  isObject(request) ? { ...request, model } : request

// The messages style at Vertex AI: project, location and model are in the path, the version is in the body,
// and betas stay a header.
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { TextStyle } from '../text/style.ts'

const version = 'vertex-2023-10-16'

export const vertexOf = (style: TextStyle): TextStyle => ({
  ...style,
  pathOf: ({ stream }: TextCall, upstream: Upstream): string =>
    addressOf(upstream, upstream.model, stream ? 'streamRawPredict' : 'rawPredict'),
  headers: ({ dialect }): Record<string, string> =>
    dialect?.beta === undefined ? {} : { 'anthropic-beta': dialect.beta },
  fieldsFor: () => ({ model: '', anthropic_version: JSON.stringify(version) }),
})

function addressOf({ vertex }: Upstream, model: string, method: string): string {
  const { project, location } = vertex!
  const place = `/v1/projects/${encodeURIComponent(project)}/locations/${location}`
  return `${place}/publishers/anthropic/models/${encodeURIComponent(model)}:${method}`
}

/** Counts are asked of a model of their own, and name the one that they are about. */
export const vertexCount = (upstream: Upstream) => ({
  path: addressOf(upstream, 'count-tokens', 'rawPredict'),
  fields: ['input_tokens'],
})

export const countingAt = (style: TextStyle): TextStyle => ({
  ...style,
  fieldsFor: (_, { model }) => ({
    model: JSON.stringify(model),
    anthropic_version: JSON.stringify(version),
  }),
})

// What a channel changes in all of its requests: headers and credentials by its client, fields of the body by
// the provider that writes it. Channels with keys and without rules share the client of the engine.
import type { Channel, ChannelRules } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type { Upstream } from '../../contract/provider.ts'
import { cloudClient, projectOf } from '../../providers/index.ts'

/** The part of an upstream that follows from its channel alone. */
type ChannelPart = Pick<Upstream, 'timeouts' | 'messages' | 'bodyEdits' | 'vertex'>

export const upstreamPart = (channel: Channel): ChannelPart => ({
  timeouts: channel.timeouts,
  messages: channel.messages,
  bodyEdits: channel.request && bodyEditsOf(channel.request),
  vertex: channel.cloud && vertexOf(channel),
})

/** For one channel. What signs a request sees it as it is sent. */
export function channelClient(http: HttpPort, { request, cloud, keys }: Channel): HttpPort {
  const client = cloud === undefined ? http : cloudClient(http, keys[0] ?? '')
  return request?.headers === undefined ? client : withHeaders(client, request.headers)
}

/** What a provider may see of a key: a cloud account is used by the client alone. */
export const shownKey = ({ cloud }: Channel, key: string): string =>
  cloud === undefined ? key : ''

export function vertexOf({ cloud, keys }: Channel): Upstream['vertex'] {
  const location = cloud?.location
  return location === undefined ? undefined : { location, project: projectOf(keys[0] ?? '') }
}

const edits = new WeakMap<ChannelRules, Readonly<Record<string, string>>>()

/** As providers take them: JSON to set, and an empty text for each field to leave out. */
export function bodyEditsOf(rules: ChannelRules): Upstream['bodyEdits'] {
  const { body } = rules
  if (body === undefined) return undefined
  let made = edits.get(rules)
  if (made === undefined) {
    made = Object.fromEntries([
      ...Object.entries(body.set).map(([name, value]) => [name, JSON.stringify(value)]),
      ...body.remove.map((name) => [name, '']),
    ]) as Record<string, string>
    edits.set(rules, made)
  }
  return made
}

type Headers = Readonly<Record<string, string>>

function withHeaders(http: HttpPort, rules: NonNullable<ChannelRules['headers']>): HttpPort {
  const ruled = (headers: Headers): Headers => {
    const sent = { ...headers, ...rules.set }
    for (const name of rules.remove) delete sent[name]
    return sent
  }
  return {
    post: (url, headers, body, limits) => http.post(url, ruled(headers), body, limits),
    get: (url, headers, limits) => http.get(url, ruled(headers), limits),
    delete: (url, headers, limits) => http.delete(url, ruled(headers), limits),
  }
}

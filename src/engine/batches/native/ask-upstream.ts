// The batch API of the upstream that a part of a batch belongs to.
import type { Catalog } from '../../../catalog/snapshot.ts'
import type { Channel, Protocol } from '../../../contract/catalog.ts'
import type { HttpPort } from '../../../contract/http.ts'
import type { BatchProvider, Provider, Upstream } from '../../../contract/provider.ts'
import { Cancellation } from '../../../lib/cancellation.ts'
import type { NativePart } from '../../../store/batches/native-parts.ts'
import type { Seals } from '../../base-deps.ts'
import type { Deadlines } from '../../calls/deadlines.ts'
import { channelClient, shownKey, upstreamPart } from '../../routing/channel-client.ts'
import { keysOf } from '../../tasks/task-upstream.ts'

export interface AskDeps extends Seals {
  readonly catalog: Catalog
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly http: HttpPort
  readonly deadlines: Deadlines
}

/** Where a part is, with the key that made it. */
export interface PartPlace {
  channel: Channel
  key: string
  provider: BatchProvider
}

/** Undefined when its channel is gone, or no longer speaks the protocol. */
export function placeOf(deps: AskDeps, part: NativePart): PartPlace | undefined {
  const channel = deps.catalog.channels.find(({ id }) => id === part.channelId)
  const provider = deps.providers.get(part.protocol)?.batches
  if (channel?.protocols[part.protocol] === undefined || provider === undefined) return undefined
  const key = keysOf(deps, channel.keys, part)[0] ?? channel.keys[0] ?? ''
  return { channel, key, provider }
}

type Question<Answer> = (
  provider: BatchProvider,
  upstream: Upstream,
  stop: Cancellation,
) => Promise<Answer>

/** Asks within the time-outs of the channel. */
export async function askBatches<Answer>(
  deps: AskDeps,
  part: NativePart,
  place: PartPlace,
  question: Question<Answer>,
): Promise<Answer> {
  const stop = new Cancellation()
  const deadline = deps.deadlines.start(place.channel.timeouts, stop)
  try {
    return await question(place.provider, upstreamAt(deps, part, place, deadline), stop)
  } finally {
    deadline.end()
  }
}

export const upstreamAt = (
  deps: AskDeps,
  part: NativePart,
  { channel, key }: PartPlace,
  progress: Upstream['progress'],
): Upstream => ({
  baseUrl: channel.protocols[part.protocol]!,
  key: shownKey(channel, key),
  model: part.upstreamModel,
  ...upstreamPart(channel),
  http: channelClient(deps.http, channel),
  progress,
})

// The upstream to poll a task at: the channel that made it, with the key that made it.
import type { Catalog, Route } from '../../catalog/snapshot.ts'
import type { Channel, Protocol } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type {
  Provider,
  TaskProvider,
  TaskUpstream,
  UpstreamError,
} from '../../contract/provider.ts'
import { servingModel, type Task } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import type { EgressRules } from '../../lib/net/address-guard.ts'
import type { Cleans, Seals } from '../base-deps.ts'
import { cleaned } from '../calls/clean-error.ts'
import type { Deadlines } from '../calls/deadlines.ts'
import { markFor } from '../calls/object-ids.ts'
import { channelClient, shownKey, upstreamPart } from '../routing/channel-client.ts'
import { clientForTask } from '../telemetry/traces/traced-client.ts'
import { fetchMedia } from './create/fetch-media.ts'

interface UpstreamDeps extends EgressRules, Seals {
  readonly catalog: Catalog
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly http: HttpPort
}

export interface AskDeps extends UpstreamDeps {
  readonly deadlines: Deadlines
}

/** Tells keys of a channel apart without revealing them. */
export const keyFingerprint = ({ seal }: Seals, key: string): string => seal.hash(key).slice(0, 16)

/** Those of these keys that made the task. */
export const keysOf = (
  deps: Seals,
  keys: readonly string[],
  task: Pick<Task, 'keyFingerprint'>,
): string[] => keys.filter((each) => keyFingerprint(deps, each) === task.keyFingerprint)

export const taskUpstream = (
  deps: UpstreamDeps,
  task: Pick<Task, 'id' | 'accountId' | 'model' | 'servedModel' | 'trace'>,
  route: TaskRoute,
  key: string,
  progress: { touch(): void },
): TaskUpstream => ({
  baseUrl: route.baseUrl,
  key: shownKey(route.channel, key),
  model: route.upstreamModel,
  plainModel: servingModel(task),
  marker: task.id,
  fetchMedia: (url) => fetchMedia(deps, url),
  ...upstreamPart(route.channel),
  http: clientOf(deps, task, route.channel),
  markFor: (id) => markFor(deps.seal, task.accountId, { channel: route.channel, key }, id),
  queueKey: task.accountId,
  progress,
})

function clientOf(deps: UpstreamDeps, { trace }: Pick<Task, 'trace'>, channel: Channel): HttpPort {
  const http = channelClient(deps.http, channel)
  return trace ? clientForTask(http, trace, channel) : http
}

/** A failure of the upstream as the caller of the task may read it. */
export const publicError = (deps: Cleans, task: Task, error: UpstreamError): UpstreamError =>
  cleaned(deps, error, { body: JSON.stringify(task.request), model: task.model }, task)

/** The task provider for this kind and protocol. */
export const pollTargetFor = (
  { providers }: UpstreamDeps,
  { protocol, kind }: Pick<Task, 'protocol' | 'kind'>,
): Pick<TaskProvider<never>, 'check' | 'cancel' | 'fileHeaders'> | undefined =>
  providers.get(protocol)?.[kind]

type TaskRoute = Pick<Route, 'channel' | 'baseUrl' | 'upstreamModel'>

interface Origin {
  route: TaskRoute
  key: string
}

/** Asks within the time-outs of the channel. */
export async function askUpstream<Answer>(
  deps: AskDeps,
  task: Pick<Task, 'id' | 'accountId' | 'model' | 'servedModel' | 'trace'>,
  { route, key }: Origin,
  question: (upstream: TaskUpstream, stop: Cancellation) => Promise<Answer>,
): Promise<Answer> {
  const stop = new Cancellation()
  const deadline = deps.deadlines.start(route.channel.timeouts, stop)
  try {
    return await question(taskUpstream(deps, task, route, key, deadline), stop)
  } finally {
    deadline.end()
  }
}

/** Undefined when its channel is gone, or no longer speaks the protocol. */
export function originOf(deps: UpstreamDeps, task: Task): Origin | undefined {
  const channel = deps.catalog.channels.find(({ id }) => id === task.channelId)
  const baseUrl = channel?.protocols[task.protocol]
  if (channel === undefined || baseUrl === undefined) return undefined
  const key = keysOf(deps, channel.keys, task)[0] ?? channel.keys[0] ?? ''
  return { route: { channel, baseUrl, upstreamModel: task.upstreamModel }, key }
}

// The upstream to poll a task at: the channel that made it, with the key that made it.
import type { Route } from '../../catalog/snapshot.ts'
import type { TaskProvider, TaskUpstream } from '../../contract/provider.ts'
import type { Task } from '../../contract/task.ts'
import type { Engine } from '../engine.ts'
import { clientForTask } from '../telemetry/traces/traced-client.ts'
import { fetchMedia } from './create/fetch-media.ts'

/** Tells keys of a channel apart without revealing them. */
export const keyFingerprint = (engine: Engine, key: string): string =>
  engine.seal.hash(key).slice(0, 16)

export const taskUpstream = (
  engine: Engine,
  task: Pick<Task, 'id' | 'model' | 'trace'>,
  route: Pick<Route, 'channel' | 'baseUrl' | 'upstreamModel'>,
  key: string,
  progress: { touch(): void },
): TaskUpstream => ({
  baseUrl: route.baseUrl,
  key,
  model: route.upstreamModel,
  plainModel: task.model,
  marker: task.id,
  fetchMedia: (url) => fetchMedia(engine, url),
  timeouts: route.channel.timeouts,
  messages: route.channel.messages,
  http: task.trace ? clientForTask(engine.http, task.trace, route.channel) : engine.http,
  progress,
})

/** The task provider for this kind and protocol. */
export const pollTargetFor = (
  { providers }: Engine,
  { protocol, kind }: Pick<Task, 'protocol' | 'kind'>,
): Pick<TaskProvider<never>, 'check' | 'cancel' | 'fileHeaders'> | undefined =>
  providers.get(protocol)?.[kind]

/** Undefined when its channel is gone, or no longer speaks the protocol. */
export function originOf(
  engine: Engine,
  task: Task,
): { route: Pick<Route, 'channel' | 'baseUrl' | 'upstreamModel'>; key: string } | undefined {
  const channel = engine.catalog.channels.find(({ id }) => id === task.channelId)
  const baseUrl = channel?.protocols[task.protocol]
  if (channel === undefined || baseUrl === undefined) return undefined
  const key =
    channel.keys.find((each) => keyFingerprint(engine, each) === task.keyFingerprint) ??
    channel.keys[0] ??
    ''
  return { route: { channel, baseUrl, upstreamModel: task.upstreamModel }, key }
}

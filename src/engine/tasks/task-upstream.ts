// The upstream to poll a task at: the channel that made it, with the key that made it.
import type { Route } from '../../catalog/snapshot.ts'
import type { TaskProvider, TaskUpstream, UpstreamError } from '../../contract/provider.ts'
import type { Task } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { cleaned } from '../calls/clean-error.ts'
import type { Engine } from '../engine.ts'
import { clientForTask } from '../telemetry/traces/traced-client.ts'
import { fetchMedia } from './create/fetch-media.ts'

/** Tells keys of a channel apart without revealing them. */
export const keyFingerprint = (engine: Engine, key: string): string =>
  engine.seal.hash(key).slice(0, 16)

/** Those of these keys that made the task. */
export const keysOf = (
  engine: Engine,
  keys: readonly string[],
  task: Pick<Task, 'keyFingerprint'>,
): string[] => keys.filter((each) => keyFingerprint(engine, each) === task.keyFingerprint)

export const taskUpstream = (
  engine: Engine,
  task: Pick<Task, 'id' | 'model' | 'trace'>,
  route: TaskRoute,
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

/** A failure of the upstream as the caller of the task may read it. */
export const publicError = (engine: Engine, task: Task, error: UpstreamError): UpstreamError =>
  cleaned(engine, error, { body: JSON.stringify(task.request), model: task.model }, task)

/** The task provider for this kind and protocol. */
export const pollTargetFor = (
  { providers }: Engine,
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
  engine: Engine,
  task: Pick<Task, 'id' | 'model' | 'trace'>,
  { route, key }: Origin,
  question: (upstream: TaskUpstream, stop: Cancellation) => Promise<Answer>,
): Promise<Answer> {
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  try {
    return await question(taskUpstream(engine, task, route, key, deadline), stop)
  } finally {
    deadline.end()
  }
}

/** Undefined when its channel is gone, or no longer speaks the protocol. */
export function originOf(engine: Engine, task: Task): Origin | undefined {
  const channel = engine.catalog.channels.find(({ id }) => id === task.channelId)
  const baseUrl = channel?.protocols[task.protocol]
  if (channel === undefined || baseUrl === undefined) return undefined
  const key = keysOf(engine, channel.keys, task)[0] ?? channel.keys[0] ?? ''
  return { route: { channel, baseUrl, upstreamModel: task.upstreamModel }, key }
}

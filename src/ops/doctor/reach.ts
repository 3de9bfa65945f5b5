// Contacts what the gateway depends on, without spending anything: asks upstreams for their model
// list, where they have one, and otherwise only whether they respond.

import { RedisClient } from 'bun'
import type { Channel, Model, Protocol } from '../../contract/catalog.ts'
import { nearestName } from '../../contract/config-schema/index.ts'
import type { HttpPort } from '../../contract/http.ts'
import type { ListUpstream, Provider } from '../../contract/provider.ts'
import { channelClient, shownKey, vertexOf } from '../../engine/routing/channel-client.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import type { HttpCall } from '../../lib/http/answer.ts'
import { createHttpClient, type HttpClient, HttpError } from '../../lib/http/client.ts'
import { providers } from '../../providers/index.ts'
import type { ClockReading } from './clock.ts'
import { reachCloud } from './clouds.ts'
import { type Finding, leftOut, ok, problem, warning } from './finding.ts'

const limitMs = 10_000
const maxAtOnce = 8
/** Per channel; more would only repeat the same. */
const maxKeys = 20
const dayMs = 86_400_000

interface Reached {
  findings: readonly Finding[]
  clocks: readonly ClockReading[]
}

type Lister = NonNullable<Provider['listModels']>

interface Place {
  baseUrl: string
  protocols: Protocol[]
  /** Absent where the protocol has none; then nothing is known about the key. */
  list: Lister | undefined
}

type Reply =
  | { status: number; ms: number; names?: readonly string[] }
  | { failure: string; advice: string }

export async function reachChannels(
  channels: readonly Channel[],
  models: ReadonlyMap<string, Model>,
): Promise<Reached> {
  const http = createHttpClient()
  const clocks: ClockReading[] = []
  const findings: Finding[] = []
  const jobs = channels.map((channel) => async () => {
    findings.push(...(await reachChannel(http, channel, models, clocks)))
  })
  await Promise.all(
    Array.from({ length: maxAtOnce }, async () => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job()
    }),
  )
  http.close()
  return { findings: findings.sort((a, b) => (a.check < b.check ? -1 : 1)), clocks }
}

async function reachChannel(
  http: HttpClient,
  channel: Channel,
  models: ReadonlyMap<string, Model>,
  clocks: ClockReading[],
): Promise<Finding[]> {
  const check = `channel ${channel.name}`
  if (channel.disabled) return [leftOut(check, 'disabled')]
  const { cloud } = channel
  if (cloud !== undefined) return reachCloud(http, { ...channel, cloud }, models, clocks)
  const { messages, timeouts } = channel
  const findings: Finding[] = []
  const names = new Map<Protocol, readonly string[]>()
  for (const { baseUrl, list, protocols } of placesOf(channel)) {
    const replies: Reply[] = []
    for (const key of channel.keys.slice(0, list === undefined ? 1 : maxKeys)) {
      const limits = { ...timeouts, connectMs: Math.min(timeouts.connectMs, limitMs) }
      const shown = shownKey(channel, key)
      const upstream = {
        ...{ baseUrl, key: shown, messages, timeouts: limits, progress: { touch() {} } },
        vertex: vertexOf(channel),
      }
      const reply =
        list === undefined
          ? await replyTo(http.get(baseUrl, {}, limits), baseUrl, clocks)
          : await replyToList(channelClient(http, channel), list, upstream, clocks)
      replies.push(reply)
      if (!('names' in reply) || reply.names === undefined) continue
      for (const protocol of protocols) names.set(protocol, reply.names)
    }
    findings.push(findingOf(check, baseUrl, list !== undefined, replies))
  }
  return [...findings, ...missingModels(check, channel, models, names)]
}

/** Models that are served by name and that the upstream's list, where there is one, does not have. */
function missingModels(
  check: string,
  { models: served }: Channel,
  models: ReadonlyMap<string, Model>,
  listed: ReadonlyMap<Protocol, readonly string[]>,
): Finding[] {
  return Object.entries(served).flatMap(([name, target]) => {
    const spoken = models.get(name)?.protocols ?? []
    const lists = spoken.flatMap((protocol) => listed.get(protocol) ?? [])
    const upstreamModel = target === '*' ? name : target
    if (name.endsWith('*') || lists.length === 0 || lists.includes(upstreamModel)) return []
    const near = nearestName(upstreamModel, lists)
    const says = `${name}: its upstream lists no model '${upstreamModel}'`
    return [warning(check, says, `correct its name upstream; the nearest is '${near}'`)]
  })
}

/** One request for all protocols that would send the same. */
function placesOf({ protocols }: Channel): Place[] {
  const places: Place[] = []
  for (const [protocol, baseUrl] of Object.entries(protocols)) {
    const list = providers.get(protocol)?.listModels
    const known = places.find((each) => each.baseUrl === baseUrl && each.list === list)
    if (known === undefined) places.push({ baseUrl, list, protocols: [protocol] })
    else known.protocols.push(protocol)
  }
  return places
}

/** The provider's own request for a list of models. */
async function replyToList(
  client: HttpPort,
  list: Lister,
  upstream: Omit<ListUpstream, 'http'>,
  clocks: ClockReading[],
): Promise<Reply> {
  let call: ReturnType<HttpPort['get']> | undefined
  const http: HttpPort = {
    ...client,
    get(url, headers, limits) {
      call = client.get(url, headers, limits)
      return call
    },
  }
  const listed = list({ ...upstream, http }, new Cancellation())
  const reply = await replyTo(call!, upstream.baseUrl, clocks, async () => {
    const read = await listed
    return read.kind === 'listed' && read.names.length > 0 ? { names: read.names } : {}
  })
  return reply
}

/** `read`: what else the answer says; without it the answer is not read. */
async function replyTo(
  call: HttpCall,
  url: string,
  clocks: ClockReading[] = [],
  read?: () => Promise<{ names?: readonly string[] }>,
): Promise<Reply> {
  const startMs = Date.now()
  const timer = setTimeout(() => call.cancel(), limitMs)
  try {
    const answer = await call.answer
    const ms = Date.now() - startMs
    const theirMs = Date.parse(answer.header('date') ?? '')
    const more = await read?.()
    if (read === undefined) answer.cancel()
    if (Math.abs(theirMs) < Number.MAX_SAFE_INTEGER) {
      clocks.push({ of: new URL(url).host, theirMs, ourMs: startMs + ms / 2, roughMs: 1_000 + ms })
    }
    return { status: answer.status, ms, ...more }
  } catch (error) {
    return failureOf(error)
  } finally {
    clearTimeout(timer)
  }
}

const advices: Readonly<Record<string, string>> = {
  unreachable: 'check the address, the DNS and the firewall between here and there',
  tls: 'check that the address is right and that nothing in between opens the connection',
  timeout: 'check the firewall between here and there',
  cancelled: 'it took the connection and said nothing: check the address',
}

function failureOf(error: unknown): Reply {
  const kind = error instanceof HttpError ? error.kind : 'broken'
  const failure =
    kind === 'cancelled' ? 'does not answer in time' : ((error as Error).message ?? 'no answer')
  return { failure, advice: advices[kind] ?? 'check that an HTTP server is at this address' }
}

function findingOf(
  check: string,
  address: string,
  triesKey: boolean,
  replies: readonly Reply[],
): Finding {
  const place = new URL(address).origin
  const failed = replies.find((reply) => 'failure' in reply)
  if (failed !== undefined && 'failure' in failed) {
    return problem(check, `${place}: ${failed.failure}`, failed.advice)
  }
  const answered = replies.filter((reply) => 'status' in reply)
  if (answered.length === 0) {
    return leftOut(check, `${place}: without its key, nothing was asked`)
  }
  const refused = answered.findIndex(({ status }) => status === 401 || status === 403)
  if (triesKey && refused >= 0) {
    const which = answered.length === 1 ? 'the key' : `key ${refused + 1} of ${answered.length}`
    const says = `${place} refuses ${which} (${answered[refused]!.status})`
    return problem(check, says, 'put the right key into the channel, or renew it at the upstream')
  }
  const { status, ms } = answered[0]!
  if (status >= 500) {
    return warning(check, `${place} answers ${status}`, 'ask again later, or ask the upstream')
  }
  if (status >= 300 && status < 400) {
    const says = `${place} redirects (${status}), and redirects are not followed`
    return warning(check, says, 'put the final address into the channel')
  }
  if (status === 404 && triesKey) {
    const says = `${place} has no list of models below ${address} (404), so its key was not tried`
    const advice =
      'check the address, to which the path of each protocol is added; gateway channel test makes one call'
    return warning(check, says, advice)
  }
  const keys = answered.length === 1 ? 'its key is taken' : `its ${answered.length} keys are taken`
  const said = status < 300 && triesKey ? keys : 'its key was not tried: there is no list of models'
  return ok(check, `${place} answers in ${ms} ms; ${said}`)
}

/** Any HTTP server: whether it responds at all. */
export async function reachAddress(check: string, url: string): Promise<Finding> {
  const http = createHttpClient()
  const reply = await replyTo(http.get(url, {}, { connectMs: limitMs }), url)
  http.close()
  const place = new URL(url).origin
  return 'failure' in reply
    ? problem(check, `${place}: ${reply.failure}`, reply.advice)
    : ok(check, `${place} answers in ${reply.ms} ms`)
}

/** Its password is in the URL, so the error text, which may hold it, is not repeated. */
export async function reachRedis(url: string): Promise<Reached> {
  const place = `Redis ${new URL(url).host}`
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 3_000 })
  try {
    const startMs = Date.now()
    const [seconds, micros] = (await bounded(client.send('TIME', []))) as [string, string]
    const ms = Date.now() - startMs
    const theirMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    const clock = { of: place, theirMs, ourMs: startMs + ms / 2, roughMs: 50 + ms }
    return {
      findings: [ok('redis', `${place} answers in ${ms} ms`)],
      clocks: theirMs > dayMs ? [clock] : [],
    }
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string }
    const isRefused = /NOAUTH|WRONGPASS|AUTH/i.test(`${code} ${message}`)
    const says = isRefused ? `${place} refuses the password` : `${place} cannot be reached`
    const advice = isRefused
      ? 'put the right user and password into GATEWAY_REDIS_URL'
      : 'check that it runs and that GATEWAY_REDIS_URL is right; until then limits are kept by each gateway alone'
    return { findings: [problem('redis', says, advice)], clocks: [] }
  } finally {
    client.close()
  }
}

async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), limitMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

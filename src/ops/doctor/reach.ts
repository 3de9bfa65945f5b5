// Contacts what the gateway depends on, without spending anything: asks upstreams for their model
// list, where they have one, and otherwise only whether they respond.
import { RedisClient } from 'bun'
import type { Channel, Protocol } from '../../contract/catalog.ts'
import { createHttpClient, type HttpClient, HttpError } from '../../lib/http/client.ts'
import type { ClockReading } from './clock.ts'
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

interface Question {
  url: string
  headers: Readonly<Record<string, string>>
  /** Whether the reply says something about the key. */
  triesKey: boolean
}

type Reply = { status: number; ms: number } | { failure: string; advice: string }

export async function reachChannels(channels: readonly Channel[]): Promise<Reached> {
  const http = createHttpClient()
  const clocks: ClockReading[] = []
  const findings: Finding[] = []
  const jobs = channels.map((channel) => async () => {
    findings.push(...(await reachChannel(http, channel, clocks)))
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
  clocks: ClockReading[],
): Promise<Finding[]> {
  const check = `channel ${channel.name}`
  if (channel.disabled) return [leftOut(check, 'disabled')]
  const findings: Finding[] = []
  for (const [address, protocols] of addressesOf(channel)) {
    const keys = channel.keys.slice(0, maxKeys)
    const questions = keys.map((key) => questionFor(address, protocols[0]!, key, channel))
    const asked = questions[0]?.triesKey ? questions : questions.slice(0, 1)
    const replies: Reply[] = []
    for (const question of asked) {
      replies.push(await ask(http, question, channel.timeouts.connectMs, clocks))
    }
    findings.push(findingOf(`${check}`, address, asked[0]?.triesKey === true, replies))
  }
  return findings
}

/** One request for all protocols that would send the same. */
function addressesOf({ protocols }: Channel): Map<string, Protocol[]> {
  const found = new Map<string, Protocol[]>()
  for (const [protocol, base] of Object.entries(protocols) as [Protocol, string][]) {
    const address = base + (listPaths[protocol] ?? '')
    found.set(address, [...(found.get(address) ?? []), protocol])
  }
  return found
}

const listPaths: Readonly<Partial<Record<Protocol, string>>> = {
  chat: '/models',
  responses: '/models',
  embeddings: '/models',
  images: '/models',
  messages: '/v1/models',
  generate: '/v1beta/models',
}

function questionFor(url: string, protocol: Protocol, key: string, channel: Channel): Question {
  if (listPaths[protocol] === undefined) return { url, headers: {}, triesKey: false }
  const { auth, headers, version = '2023-06-01' } = channel.messages
  const isMessages = protocol === 'messages'
  const isGenerate = protocol === 'generate'
  return {
    url,
    triesKey: true,
    headers: {
      accept: 'application/json',
      ...(isGenerate && { 'x-goog-api-key': key }),
      ...(!isGenerate &&
        (!isMessages || auth !== 'x-api-key') && { authorization: `Bearer ${key}` }),
      ...(isMessages && auth !== 'bearer' && { 'x-api-key': key }),
      ...(isMessages && headers !== 'msgapi' && { 'anthropic-version': version }),
      ...(isMessages && headers !== 'anthropic' && { 'msgapi-version': version }),
    },
  }
}

async function ask(
  http: HttpClient,
  { url, headers }: Question,
  connectMs: number,
  clocks: ClockReading[],
): Promise<Reply> {
  const startMs = Date.now()
  const call = http.get(url, headers, { connectMs: Math.min(connectMs, limitMs) })
  const timer = setTimeout(() => call.cancel(), limitMs)
  try {
    const answer = await call.answer
    const ms = Date.now() - startMs
    const theirMs = Date.parse(answer.header('date') ?? '')
    answer.cancel()
    if (Math.abs(theirMs) < Number.MAX_SAFE_INTEGER) {
      clocks.push({ of: new URL(url).host, theirMs, ourMs: startMs + ms / 2, roughMs: 1_000 + ms })
    }
    return { status: answer.status, ms }
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
  const keys = answered.length === 1 ? 'its key is taken' : `its ${answered.length} keys are taken`
  const said = status < 300 && triesKey ? keys : 'its key was not tried: there is no list of models'
  return ok(check, `${place} answers in ${ms} ms; ${said}`)
}

/** Any HTTP server: whether it responds at all. */
export async function reachAddress(check: string, url: string): Promise<Finding> {
  const http = createHttpClient()
  const reply = await ask(http, { url, headers: {}, triesKey: false }, limitMs, [])
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

// Whether a channel's account at a cloud may invoke its models. Each is asked with a request that says nothing,
// which the cloud refuses as invalid only after it has checked token, place and permission: nothing is spent.
import type { Channel, Model } from '../../contract/catalog.ts'
import { vertexEndpoint } from '../../contract/config-schema/channel/auth.ts'
import { endpointOf } from '../../contract/config-schema/index.ts'
import type { HttpAnswer, HttpPort } from '../../contract/http.ts'
import { channelClient, vertexOf } from '../../engine/routing/channel-client.ts'
import { CredentialError } from '../../providers/index.ts'
import type { ClockReading } from './clock.ts'
import { type Answer, type Cloud, cloudsByKind, type Sign } from './cloud-signs.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const limitMs = 10_000
/** Per channel; more would mostly repeat the same. */
const maxModels = 20
const maxAnswerBytes = 64 * 1024
/** What clouds take of what is signed by another clock. */
const maxSkewMs = 5 * 60_000

type Models = ReadonlyMap<string, Model>

export async function reachCloud(
  http: HttpPort,
  channel: Channel & Required<Pick<Channel, 'cloud'>>,
  models: Models,
  clocks: ClockReading[],
): Promise<Finding[]> {
  const check = `channel ${channel.name}`
  const cloud = cloudsByKind[channel.cloud.kind]
  const client = channelClient(http, channel)
  const findings: Finding[] = []
  const asked = Object.keys(channel.models)
    .filter((name) => !name.endsWith('*'))
    .slice(0, maxModels)
  for (const name of asked) {
    const { url, body } = questionOf(channel, models, name)
    const answer = await ask(client, url, body)
    const { origin } = new URL(url)
    if (answer === undefined) return [unreachable(check, origin)]
    // Without a token the cloud itself was not asked, whose clock counts.
    const skewed = skewFinding(check, cloud, answer.skewMs ?? (await skewAt(http, origin)))
    if (skewed !== undefined && findings.length === 0) findings.push(skewed)
    if (answer.skewMs !== undefined) clocks.push(readingOf(origin, answer.skewMs))
    const sign = cloud.signs.find((each) => fits(each, answer))
    if (sign === undefined) continue
    const found = findingOf(check, sign, answer, name)
    if (sign.of !== 'model')
      return skewed !== undefined && sign.isSkew ? findings : [...findings, found]
    findings.push(found)
  }
  if (findings.length > 0) return findings
  const takes = `${cloud.title} takes ${cloud.credential}`
  return [ok(check, `${takes}; ${asked.length} models may be invoked`)]
}

const readingOf = (origin: string, skewMs: number): ClockReading => {
  const ourMs = Date.now()
  return { of: new URL(origin).host, theirMs: ourMs - skewMs, ourMs, roughMs: 2_000 }
}

/** What a model is asked, by the protocol that would serve it. */
function questionOf(channel: Channel, models: Models, name: string): { url: string; body: string } {
  const { protocols, models: served } = channel
  const target = served[name] === '*' ? name : served[name]!
  const spoken = Object.keys(protocols)
  const own = models.get(name)?.protocols.find((each) => spoken.includes(each)) ?? spoken[0]!
  const protocol = /claude/i.test(target) && spoken.includes('messages') ? 'messages' : own
  const address = protocols[protocol]!
  const pattern = vertexEndpoint(channel, protocol, address) ?? endpointOf(protocol, address)
  const project = encodeURIComponent(vertexOf(channel)?.project ?? '')
  const url = pattern
    .replace('projects/…', `projects/${project}`)
    .replace('{model}', encodeURIComponent(target))
  return { url, body: JSON.stringify(channel.cloud?.kind === 'azure' ? { model: target } : {}) }
}

async function skewAt(http: HttpPort, origin: string): Promise<number | undefined> {
  const call = http.get(origin, {}, { connectMs: limitMs })
  const timer = setTimeout(() => call.cancel(), limitMs)
  try {
    const answer = await call.answer
    answer.cancel()
    return skewOf(answer)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Undefined: there is no answer. */
async function ask(client: HttpPort, url: string, body: string): Promise<Answer | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const call = client.post(url, headers, body, { connectMs: limitMs })
  const timer = setTimeout(() => call.cancel(), limitMs)
  try {
    const answer = await call.answer
    const text = (await answer.text(maxAnswerBytes)) ?? ''
    const words = `${answer.header('x-amzn-errortype') ?? ''} ${text}`
    return { status: answer.status, words, skewMs: skewOf(answer) }
  } catch (error) {
    return error instanceof CredentialError ? { status: 0, words: error.message } : undefined
  } finally {
    clearTimeout(timer)
  }
}

/** By the second; undefined where it does not tell the time. */
function skewOf(answer: Pick<HttpAnswer, 'header'>): number | undefined {
  const theirMs = Date.parse(answer.header('date') ?? '')
  return Number.isFinite(theirMs) ? Date.now() - theirMs : undefined
}

const fits = ({ statuses, words }: Sign, answer: Answer): boolean =>
  (statuses === undefined || statuses.includes(answer.status)) &&
  (words === undefined || words.test(answer.words))

function findingOf(check: string, sign: Sign, { status, words }: Answer, name: string): Finding {
  const said = sign.says.replace('{status}', String(status)).replace('{words}', words)
  const says = sign.of === 'model' ? `${name}: ${said}` : said
  return sign.isPassing ? warning(check, says, sign.advice) : problem(check, says, sign.advice)
}

const unreachable = (check: string, origin: string): Finding =>
  problem(
    check,
    `${origin} cannot be reached`,
    'check the region, the DNS and the firewall between here and there',
  )

function skewFinding(check: string, { title, signed }: Cloud, skewMs: number | undefined) {
  if (!signed || skewMs === undefined || Math.abs(skewMs) < maxSkewMs) return undefined
  const minutes = Math.round(Math.abs(skewMs) / 60_000)
  return problem(
    check,
    `the clock is ${minutes} minutes off: ${title} will refuse what is signed by it`,
    'let NTP set the clock: timedatectl set-ntp true',
  )
}

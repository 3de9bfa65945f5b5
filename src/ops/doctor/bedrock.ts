// Whether a channel's AWS account may invoke its models. Each is asked with an empty request, which AWS refuses
// as invalid only after it has checked signature, region and permission: nothing is spent.
import type { Channel } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import { channelClient } from '../../engine/routing/channel-client.ts'
import type { ClockReading } from './clock.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const limitMs = 10_000
/** Per channel; more would mostly repeat the same. */
const maxModels = 20
const maxAnswerBytes = 64 * 1024
/** What AWS takes. */
const maxSkewMs = 5 * 60_000

interface Answer {
  status: number
  words: string
  theirMs: number
}

export async function reachBedrock(
  http: HttpPort,
  channel: Channel,
  clocks: ClockReading[],
): Promise<Finding[]> {
  const check = `channel ${channel.name}`
  const client = channelClient(http, channel)
  const base = channel.protocols['bedrock'] ?? ''
  const findings: Finding[] = []
  const names = Object.entries(channel.models).filter(([name]) => !name.endsWith('*'))
  const asked = names.slice(0, maxModels)
  for (const [name, target] of asked) {
    const model = target === '*' ? name : target
    const answer = await ask(client, `${base}/model/${encodeURIComponent(model)}/converse`)
    if (answer === undefined) {
      const advice = 'check the region, the DNS and the firewall between here and there'
      return [problem(check, `${new URL(base).origin} cannot be reached`, advice)]
    }
    const of = new URL(base).host
    const ourMs = Date.now()
    if (Number.isFinite(answer.theirMs))
      clocks.push({ of, theirMs: answer.theirMs, ourMs, roughMs: 2_000 })
    const skewed = skewFinding(check, ourMs - answer.theirMs)
    if (skewed !== undefined && findings.length === 0) findings.push(skewed)
    const whole = accountFinding(check, answer)
    if (whole !== undefined) return [...findings, whole]
    const wrong = modelFinding(check, name, answer)
    if (wrong !== undefined) findings.push(wrong)
  }
  if (findings.length > 0) return findings
  return [ok(check, `AWS takes the access key; ${asked.length} models may be invoked`)]
}

async function ask(client: HttpPort, url: string): Promise<Answer | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const call = client.post(url, headers, '{}', { connectMs: limitMs })
  const timer = setTimeout(() => call.cancel(), limitMs)
  try {
    const answer = await call.answer
    const text = (await answer.text(maxAnswerBytes)) ?? ''
    const theirMs = Date.parse(answer.header('date') ?? '')
    const words = `${answer.header('x-amzn-errortype') ?? ''} ${text}`
    return { status: answer.status, words, theirMs }
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

function skewFinding(check: string, skewMs: number): Finding | undefined {
  if (!(Math.abs(skewMs) >= maxSkewMs)) return undefined
  const minutes = Math.round(Math.abs(skewMs) / 60_000)
  return problem(
    check,
    `the clock is ${minutes} minutes off: AWS will refuse what is signed by it`,
    'let NTP set the clock: timedatectl set-ntp true',
  )
}

/** What all models of the channel share. */
function accountFinding(check: string, { status, words }: Answer): Finding | undefined {
  if (/valid region/i.test(words)) {
    return problem(
      check,
      'AWS says that the region is not that of the host',
      'give auth.aws.region and the address the same region',
    )
  }
  if (/ExpiredToken/.test(words)) {
    return problem(check, 'the session token has expired', 'put new temporary credentials into it')
  }
  if (status === 401 || (status === 403 && !/AccessDenied/.test(words))) {
    const says = `AWS refuses the access key (${status})`
    return problem(check, says, 'put the right access key and secret into the channel')
  }
  return status >= 500
    ? warning(check, `AWS answers ${status}`, 'ask again later, or ask AWS')
    : undefined
}

function modelFinding(check: string, name: string, { status, words }: Answer): Finding | undefined {
  if (status === 403) {
    return problem(
      check,
      `${name}: the role may not invoke this model`,
      'allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream on it, and request access to the model',
    )
  }
  const isUnknown = status === 404 || /model identifier is invalid/i.test(words)
  return isUnknown
    ? problem(
        check,
        `${name}: AWS has no such model in this region`,
        'correct its name upstream, or the region',
      )
    : undefined
}

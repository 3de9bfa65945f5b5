// Access tokens of a cloud account: fetched once for all calls, renewed ahead of their end, and kept while a
// renewal fails. What went wrong is told without ids.
import type { HttpPort } from '../../contract/http.ts'
import { isObject } from '../../lib/json/parse.ts'
import { CredentialError } from '../common/credential-error.ts'

/** Before its end; of a short life a fifth. */
const aheadMs = 5 * 60_000
const retryMs = 10_000
const maxAnswerBytes = 256 * 1024
const usualSeconds = 3600

export interface TokenRequest {
  url: string
  /** What is posted; absent: it is a GET. */
  form?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
}

interface Held {
  token: string
  untilMs: number
  renewAtMs: number
}

export class TokenSource {
  readonly #ask: (nowMs: number) => TokenRequest
  #held: Held | undefined
  #running: Promise<Held> | undefined

  constructor(ask: (nowMs: number) => TokenRequest) {
    this.#ask = ask
  }

  async get(http: HttpPort, limits: { connectMs: number }, nowMs = Date.now()): Promise<string> {
    const held = this.#held
    if (held !== undefined && nowMs < held.renewAtMs) return held.token
    if (held !== undefined && nowMs < held.untilMs) {
      held.renewAtMs = nowMs + retryMs
      this.#renew(http, limits, nowMs).catch(() => {})
      return held.token
    }
    return (await this.#renew(http, limits, nowMs)).token
  }

  /** The one at hand, whether it is still good or not. */
  get token(): string | undefined {
    return this.#held?.token
  }

  /** The upstream has refused it. */
  drop(token: string): void {
    if (this.#held?.token === token) this.#held = undefined
  }

  #renew(http: HttpPort, limits: { connectMs: number }, nowMs: number): Promise<Held> {
    this.#running ??= Promise.resolve(nowMs)
      .then((at) => fetchToken(http, limits, this.#ask(at), at))
      .then((held) => {
        this.#held = held
        return held
      })
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }
}

const timeLimitMs = 15_000

async function fetchToken(
  http: HttpPort,
  limits: { connectMs: number },
  asked: TokenRequest,
  nowMs: number,
): Promise<Held> {
  const call = sendRequest(http, limits, asked)
  const timer = setTimeout(() => call.cancel(), timeLimitMs)
  try {
    const answer = await call.answer
    const body = parsed((await answer.text(maxAnswerBytes)) ?? '')
    const { access_token: token, expires_in: seconds } = body
    if (answer.status !== 200 || !isToken(token)) {
      throw noToken(`${answer.status}${wordOf(body)}`)
    }
    const lifeMs = 1000 * (Number(seconds) > 0 ? Number(seconds) : usualSeconds)
    const untilMs = nowMs + lifeMs
    return { token, untilMs, renewAtMs: untilMs - Math.min(aheadMs, lifeMs / 5) }
  } catch (error) {
    throw error instanceof CredentialError ? error : noToken('it cannot be reached')
  } finally {
    clearTimeout(timer)
  }
}

function sendRequest(
  http: HttpPort,
  limits: { connectMs: number },
  { url, form, headers }: TokenRequest,
): ReturnType<HttpPort['get']> {
  const sent = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    ...headers,
  }
  if (form === undefined) return http.get(url, sent, limits)
  const typed = { ...sent, 'content-type': 'application/x-www-form-urlencoded' }
  return http.post(url, typed, new URLSearchParams(form).toString(), limits)
}

/** What a header can carry. */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

const noToken = (why: string): CredentialError =>
  new CredentialError(`the cloud gave no access token for this channel: ${why}`)

/** Descriptions name tenants, projects and accounts: of them, a code or what they are about is told. */
function wordOf({ error, error_description: text }: Readonly<Record<string, unknown>>): string {
  if (typeof error !== 'string' || !/^[a-z_]{1,40}$/.test(error)) return ''
  const code = /\bAADSTS\d{4,8}\b/.exec(String(text))?.[0]
  if (code !== undefined) return ` ${error} ${code}`
  return error === 'invalid_grant' ? ` ${error} (${grantHint(String(text))})` : ` ${error}`
}

function grantHint(text: string): string {
  if (/timeframe|\biat\b|\bexp\b/i.test(text)) return 'not valid by the clock: is it right?'
  return /signature|account not found/i.test(text)
    ? 'the key is no longer valid, or the account is gone'
    : 'is the clock right, and the key still valid?'
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

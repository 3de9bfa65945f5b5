// Errors of Bedrock in terms of HTTP: the same exceptions come as the type of a refusal and as frames inside a
// stream. Texts lose the names of resources, in which accounts are.
import type { HttpAnswer } from '../../contract/http.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withoutIds } from '../common/cloud-ids.ts'
import type { Frame } from './event-stream.ts'

/** The status that says whose fault it is, and the word of the messages style for it in a stream. */
const exceptions: Readonly<Record<string, readonly [status: number, type: string]>> = {
  validation: [400, 'invalid_request_error'],
  servicequotaexceeded: [429, 'rate_limit_error'],
  accessdenied: [403, 'permission_error'],
  unrecognizedclient: [403, 'authentication_error'],
  invalidsignature: [403, 'authentication_error'],
  signaturedoesnotmatch: [403, 'authentication_error'],
  incompletesignature: [403, 'authentication_error'],
  invalidclienttokenid: [403, 'authentication_error'],
  expiredtoken: [403, 'authentication_error'],
  requestexpired: [403, 'authentication_error'],
  resourcenotfound: [404, 'not_found_error'],
  modeltimeout: [504, 'timeout_error'],
  modelerror: [502, 'api_error'],
  modelstreamerror: [502, 'api_error'],
  throttling: [429, 'rate_limit_error'],
  modelnotready: [503, 'overloaded_error'],
  internalserver: [500, 'api_error'],
  serviceunavailable: [503, 'overloaded_error'],
}

/** 'ThrottlingException:http://…' and 'com.amazon#throttlingException' -> 'throttling' */
const kindOf = (type: string): string =>
  type
    .replace(/:.*$/s, '')
    .replace(/^.*#/s, '')
    .replace(/(?:Exception|Error)$/i, '')
    .toLowerCase()

const withoutAccounts = (text: string): string =>
  withoutIds(text).replaceAll(/\b\d{12}\b/g, 'an account')

const maxErrorBytes = 64 * 1024

/** A refusal with the status that its type has, and a text without accounts. */
export async function asRefusal(answer: HttpAnswer): Promise<HttpAnswer> {
  if (answer.status === 200) return answer
  const body = (await answer.text(maxErrorBytes).catch(() => '')) ?? ''
  const type = answer.header('x-amzn-errortype') ?? typeIn(body)
  const known = exceptions[kindOf(type)]
  const text = (async () => withoutAccounts(messageFirst(body))) as HttpAnswer['text']
  return {
    status: known?.[0] ?? (answer.status === 424 ? 502 : answer.status),
    header: (name) => answer.header(name === 'x-request-id' ? 'x-amzn-requestid' : name),
    text,
    read: () => answer.read(),
    pipe: (reader) => answer.pipe(reader),
    resume: () => answer.resume(),
    cancel: () => answer.cancel(),
    release: () => answer.release(),
    expectTrickle: () => answer.expectTrickle(),
  }
}

/** `{"__type": "com.amazon.coral.service#ExpiredTokenException"}` */
function typeIn(body: string): string {
  const type = /"__type"\s*:\s*"([\w.#:]{1,200})"/.exec(body)?.[1]
  return type ?? ''
}

/** Some say `Message`. */
function messageFirst(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    if (!isObject(value) || typeof value['Message'] !== 'string') return body
    return JSON.stringify({ ...value, message: value['Message'] })
  } catch {
    return body
  }
}

/** A frame that ends the stream with an error, as the event of the messages style. */
export function errorEvent({ headers, payload }: Frame): string {
  const type = headers[':exception-type'] ?? headers[':error-code'] ?? ''
  const [, word] = exceptions[kindOf(type)] ?? [500, 'api_error']
  const message = withoutAccounts(messageIn(payload) || headers[':error-message'] || type)
  const error = { type: word, message }
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`
}

function messageIn(payload: string): string {
  try {
    const value: unknown = JSON.parse(payload)
    const message = isObject(value) ? (value['message'] ?? value['Message']) : undefined
    return typeof message === 'string' ? message : ''
  } catch {
    return ''
  }
}

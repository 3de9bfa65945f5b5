// What goes wrong with Bedrock, one row each.
import { afterAll, beforeAll } from 'bun:test'
import { crc32 } from 'node:zlib'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import { freePort } from '../../support/free-port.ts'
import { jsonReply } from '../../support/upstream.ts'
import { type Case, type Cloud, type Reply, type Run, startRun, testCases } from './run.ts'

const aws = {
  access_key: 'AKIDEXAMPLE12345',
  secret_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session_token: 'session-token-0123456789==',
  region: 'eu-central-1',
}
const account = '210987654321'
const user = `arn:aws:iam::${account}:user/${aws.access_key}`

const codec = new EventStreamCodec(toUtf8, fromUtf8)
const encoded = (headers: Record<string, string>, payload: object): Buffer =>
  Buffer.from(
    codec.encode({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
      ),
      body: fromUtf8(JSON.stringify(payload)),
    }),
  )
const event = (type: string, payload: object) =>
  encoded({ ':message-type': 'event', ':event-type': type }, payload)
const exception = (type: string, message: string) =>
  encoded({ ':message-type': 'exception', ':exception-type': type }, { message })
const begun = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { delta: { text: 'Hello ' }, contentBlockIndex: 0 }),
]
/** As InvokeModel sends the events of a messages model. */
const chunk = (payload: object) =>
  event('chunk', { bytes: Buffer.from(JSON.stringify(payload)).toString('base64') })
const invoked = [
  chunk({
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
      usage: { input_tokens: 11, output_tokens: 1 },
    },
  }),
  chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello ' } }),
]
const messages = { model: 'eu.anthropic.claude-x-v1:0' }
const ended = [
  event('contentBlockStop', { contentBlockIndex: 0 }),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', { usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 } }),
]
/** A frame that claims to be as long as no frame is, with a checksum that is right. */
function gigantic(): Buffer {
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(0x7fff_ffff, 0)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  return Buffer.concat([prelude, Buffer.alloc(4096)])
}
function withWrongBit(frame: Buffer): Buffer {
  const spoiled = Buffer.from(frame)
  spoiled[spoiled.length - 9]! ^= 1
  return spoiled
}
const frames =
  (...parts: Buffer[]): Reply =>
  () =>
    new Response(Buffer.concat(parts), {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    })

const refused =
  (type: string, status: number, message: string, headers = {}): Reply =>
  () =>
    jsonReply(
      { message },
      { status, headers: { 'x-amzn-errortype': `${type}:http://x/`, ...headers } },
    )
const denied = { status: 502, code: 'upstream_permission_denied' }
const broken = { status: 502, code: 'upstream_invalid_response' }
const failed = { status: 502, code: 'upstream_error' }
const limited = { status: 429, code: 'upstream_rate_limited' }
const invalid = { status: 400, code: 'upstream_invalid_request' }
const inside = { only: 'stream', inside: true } as const

const cases: Case[] = [
  {
    ...{ name: 'expired session', ...denied, says: /expired/ },
    calls: refused('ExpiredTokenException', 403, `The security token of ${user} is expired`),
  },
  {
    ...{ name: 'unknown access key', ...denied, says: /token .*is invalid/ },
    calls: refused(
      'UnrecognizedClientException',
      403,
      'The security token included in the request is invalid.',
    ),
  },
  {
    ...{ name: 'wrong region', ...denied, says: /valid region/ },
    calls: refused(
      'InvalidSignatureException',
      403,
      "Credential should be scoped to a valid region, not 'eu-central-1'.",
    ),
  },
  {
    ...{ name: 'wrong secret', ...denied, says: /does not match/ },
    calls: refused(
      'SignatureDoesNotMatch',
      403,
      `The signature does not match. Credential=${aws.access_key}/20261118`,
    ),
  },
  {
    // Signed anew once, for the time of AWS.
    ...{ name: 'clock wrong, and still refused', ...denied, says: /expired/, arrive: 2 },
    calls: (call, nth) =>
      refused('InvalidSignatureException', 403, 'Signature expired', {
        date: new Date(Date.now() + 1_200_000).toUTCString(),
      })(call, nth),
  },
  {
    ...{ name: 'request expired without a time to go by', ...denied, says: /expired/ },
    calls: refused('RequestExpired', 400, 'Request has expired.', { date: 'not a date' }),
  },
  {
    ...{ name: 'denied model', ...denied, says: /access to the model/ },
    calls: refused(
      'AccessDeniedException',
      403,
      "You don't have access to the model with the specified model ID.",
    ),
  },
  {
    ...{ name: 'role without permission', ...denied, says: /not authorized to perform/ },
    calls: refused(
      'AccessDeniedException',
      403,
      `User: ${user} is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:eu-central-1:${account}:x/y because no identity-based policy allows it`,
    ),
  },
  {
    ...{ name: 'unknown model', ...denied, says: /Could not resolve|model/ },
    calls: refused('ResourceNotFoundException', 404, 'Could not resolve the foundation model'),
  },
  {
    ...{ name: 'invalid model id', ...invalid, says: /identifier is invalid/ },
    calls: refused('ValidationException', 400, 'The provided model identifier is invalid.'),
  },
  {
    ...{ name: 'model without on-demand throughput', ...invalid, says: /inference profile/ },
    calls: refused(
      'ValidationException',
      400,
      `Retry your request with the ID or ARN of an inference profile of ${account}`,
    ),
  },
  {
    ...{ name: 'throttled', ...limited, says: /Too many tokens/ },
    calls: refused('ThrottlingException', 429, 'Too many tokens, please wait'),
  },
  {
    ...{ name: 'quota', ...limited, says: /quota/ },
    calls: refused('ServiceQuotaExceededException', 400, `Your account ${account} quota is used`),
  },
  {
    ...{ name: 'type in the body alone', ...denied, says: /expired/ },
    calls: () =>
      jsonReply(
        { __type: 'com.amazon.coral.service#ExpiredTokenException', Message: 'It has expired' },
        { status: 400 },
      ),
  },
  {
    ...{ name: 'model not ready', status: 503, code: 'overloaded', says: /not ready/ },
    calls: refused('ModelNotReadyException', 429, 'The model is not ready'),
  },
  {
    ...{ name: 'model too slow', status: 504, code: 'upstream_timeout', says: /timed out/ },
    calls: refused('ModelTimeoutException', 408, 'The model timed out'),
  },
  {
    ...{ name: 'error of the model', ...failed, says: /the model/ },
    calls: refused('ModelErrorException', 424, 'Error of the model'),
  },
  {
    ...{ name: 'down', status: 503, code: 'overloaded', says: /unavailable/ },
    calls: refused('ServiceUnavailableException', 503, 'Service unavailable'),
  },
  {
    ...{ name: 'page of a proxy', ...denied, says: /status 403/ },
    calls: () => new Response(`<html>${account}</html>`, { status: 403 }),
  },
  {
    ...{ name: 'nobody there', status: 502, code: 'upstream_unreachable', says: /reached/ },
    channel: { protocols: { bedrock: `http://127.0.0.1:${freePort()}` } },
  },
  {
    ...{ name: 'throttled as the first frame', ...limited, says: /slow down/, only: 'stream' },
    calls: frames(exception('throttlingException', 'slow down')),
  },
  {
    ...{ name: 'throttled inside a stream', ...limited, ...inside, says: /slow down/ },
    calls: frames(...begun, exception('throttlingException', `slow down, ${user}`)),
  },
  {
    ...{ name: 'unknown exception inside', ...failed, ...inside, says: /something new/ },
    calls: frames(...begun, exception('brandNewException', `something new of ${account}`)),
  },
  {
    ...{ name: 'error frame without a payload', ...failed, ...inside, says: /lost it/ },
    calls: frames(
      ...begun,
      encoded(
        {
          ':message-type': 'error',
          ':error-code': 'InternalFailure',
          ':error-message': `lost it ${user}`,
        },
        {},
      ),
    ),
  },
  {
    ...{ name: 'wrong checksum in the first frame', ...failed, only: 'stream', says: /upstream/ },
    calls: frames(withWrongBit(begun[0]!), ...ended),
  },
  {
    ...{ name: 'wrong checksum inside', ...failed, ...inside, says: /upstream/ },
    calls: frames(...begun, withWrongBit(ended[0]!), ...ended.slice(1)),
  },
  {
    ...{ name: 'cut inside a frame', ...failed, ...inside, says: /upstream/ },
    calls: frames(...begun, ended[0]!.subarray(0, -5)),
  },
  {
    ...{ name: 'ends without an end', ...failed, ...inside, says: /upstream/ },
    calls: frames(...begun),
  },
  {
    ...{ name: 'frame of 2 GB', ...failed, ...inside, says: /upstream/ },
    calls: frames(...begun, gigantic()),
  },
  {
    ...{
      name: 'role without permission to invoke',
      ...messages,
      ...denied,
      says: /not authorized/,
    },
    calls: refused('AccessDeniedException', 403, `User: ${user} is not authorized`),
  },
  {
    ...{ name: 'throttled as the first frame of a model invoked', ...messages, ...limited },
    ...{ only: 'stream', says: /slow down/ },
    calls: frames(exception('throttlingException', 'slow down')),
  },
  {
    ...{ name: 'throttled inside a model invoked', ...messages, ...limited, ...inside },
    ...{
      says: /slow down/,
      calls: frames(...invoked, exception('throttlingException', 'slow down')),
    },
  },
  {
    ...{ name: 'wrong checksum inside a model invoked', ...messages, ...failed, ...inside },
    ...{ says: /upstream/, calls: frames(...invoked, withWrongBit(invoked[2]!)) },
  },
  {
    ...{ name: 'garbage', ...broken, only: 'json', says: /upstream/ },
    calls: () => jsonReply('{"output": '),
  },
  {
    ...{ name: 'empty object', ...broken, only: 'json', says: /upstream/ },
    calls: () => jsonReply({}),
  },
]

const cloud: Cloud = {
  name: 'Bedrock',
  channel: (base, _, changed) => ({
    // Of its own: what one signer learns of the clock, others do not know.
    auth: { aws: { ...aws, session_token: aws.session_token + base.slice(-9), ...changed } },
    protocols: { bedrock: base },
  }),
  secrets: [aws.access_key, aws.secret_key, aws.session_token, account],
  cases,
}

let run: Run
beforeAll(async () => {
  run = await startRun(cloud)
})
afterAll(() => run.stop())

testCases(cloud, () => run)

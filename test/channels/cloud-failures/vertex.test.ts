// What goes wrong with Vertex AI, one row each: tokens, Google's models, and those of the messages style.
import { afterAll, beforeAll } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { freePort } from '../../support/free-port.ts'
import { jsonReply } from '../../support/upstream.ts'
import { type Case, type Cloud, never, type Reply, type Run, startRun, testCases } from './run.ts'
import { goodTokens, tokenCases } from './token-cases.ts'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const google = {
  client_email: 'gateway@secret-77.iam.example',
  private_key: privateKey,
  private_key_id: 'kid-0123456789',
  // Shorter than what is looked for as a secret.
  project_id: 'prj-77',
}
const number = '987654321098'
const path = `projects/${google.project_id}/locations/europe-west1/publishers/google/models/x`

const tokens = goodTokens('token-of-google')
const refused =
  (status: number, word: string, message: string): Reply =>
  () =>
    jsonReply({ error: { code: status, message, status: word } }, { status })

const denied = { status: 502, code: 'upstream_permission_denied', tokens }
const failed = { status: 502, code: 'upstream_error', tokens }
const limited = { status: 429, code: 'upstream_rate_limited', tokens }
const busy = { status: 503, code: 'overloaded', tokens }
const invalid = { status: 400, code: 'upstream_invalid_request', tokens }
const broken = { status: 502, code: 'upstream_invalid_response', tokens }
const inside = { only: 'stream', inside: true } as const

const sse = (...events: (object | string)[]): Reply => {
  const text = events
    .map((each) => (typeof each === 'string' ? each : `data: ${JSON.stringify(each)}\n\n`))
    .join('')
  return () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}
const part = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello ' }] } }] }
const spoiledKey = privateKey.replace(/\n[\w+/=]{60,}\n/, '\nAAAA\n')

const cases: Case[] = [
  ...tokenCases(`${google.client_email} of ${google.project_id} (${number})`, (address) => ({
    token_uri: address,
  })),
  {
    ...{ name: 'key that cannot sign', status: 502, code: 'upstream_unreachable' },
    ...{ says: /private key of the service account cannot be used/ },
    auth: { private_key: spoiledKey },
  },
  {
    ...{ name: 'token refused', ...denied, says: /authentication credentials/ },
    calls: refused(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
  },
  {
    ...{ name: 'role without permission', ...denied, says: /aiplatform.endpoints.predict/ },
    calls: refused(
      403,
      'PERMISSION_DENIED',
      `Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/${path}' (or it may not exist).`,
    ),
  },
  {
    ...{ name: 'API switched off', ...denied, says: /has not been used in project/ },
    calls: refused(
      403,
      'PERMISSION_DENIED',
      `Vertex AI API has not been used in project ${number} before or it is disabled.`,
    ),
  },
  {
    ...{ name: 'unknown model', ...denied, says: /was not found/ },
    calls: refused(404, 'NOT_FOUND', `Publisher Model \`${path}\` was not found.`),
  },
  {
    ...{ name: 'wrong location', ...invalid, says: /not servable/ },
    calls: refused(
      400,
      'FAILED_PRECONDITION',
      `Publisher Model ${path} is not servable in region europe-west1.`,
    ),
  },
  {
    ...{ name: 'quota', ...limited, says: /Quota exceeded/ },
    calls: refused(
      429,
      'RESOURCE_EXHAUSTED',
      `Quota exceeded for aiplatform.googleapis.com with consumer 'project_number:${number}'.`,
    ),
  },
  {
    ...{ name: 'too much to do', ...busy, says: /overloaded/ },
    calls: refused(503, 'UNAVAILABLE', 'The model is overloaded.'),
  },
  {
    ...{ name: 'fails', ...failed, says: /Internal error/ },
    calls: refused(500, 'INTERNAL', `Internal error of project "${google.project_id}"`),
  },
  {
    ...{ name: 'page of a proxy', ...failed, says: /status 502/ },
    calls: () => new Response(`<html>${path}</html>`, { status: 502 }),
  },
  {
    ...{ name: 'nobody there', status: 502, code: 'upstream_unreachable', says: /reached/, tokens },
    channel: { protocols: { generate: `http://127.0.0.1:${freePort()}` } },
  },
  {
    ...{ name: 'never begins', status: 504, code: 'upstream_timeout', says: /time/, tokens },
    ...{ calls: never, channel: { timeouts: { first_byte: '300ms' } } },
  },
  {
    ...{ name: 'error as the first event', ...limited, only: 'stream', says: /Quota/ },
    calls: sse({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: `Quota of projects/${number}` },
    }),
  },
  {
    ...{ name: 'error inside a stream', ...limited, ...inside, says: /Quota/ },
    calls: sse(part, {
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: `Quota of project ${number}` },
    }),
  },
  {
    ...{ name: 'stream that ends without an end', ...failed, ...inside, says: /upstream/ },
    calls: sse(part),
  },
  {
    ...{ name: 'garbage', ...broken, only: 'json', says: /upstream/ },
    calls: () => jsonReply('{"candidates": '),
  },
]

const cloud: Cloud = {
  name: 'Vertex',
  channel: (base, token_uri, changed) => ({
    auth: { google: { service_account: { ...google, token_uri, ...changed } } },
    vertex: { location: 'europe-west1' },
    protocols: { generate: base },
  }),
  secrets: [
    ...[google.client_email, google.private_key_id, google.project_id, number],
    ...[privateKey.split('\n')[3]!, 'token-of-google'],
  ],
  cases,
}

let run: Run
beforeAll(async () => {
  run = await startRun(cloud)
})
afterAll(() => run.stop())

testCases(cloud, () => run)

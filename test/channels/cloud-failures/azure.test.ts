// What goes wrong with Azure and Entra ID, one row each.
import { afterAll, beforeAll } from 'bun:test'
import { freePort } from '../../support/free-port.ts'
import { finishChunk, jsonReply, textChunk } from '../../support/upstream.ts'
import { type Case, type Cloud, never, type Reply, type Run, startRun, testCases } from './run.ts'
import { goodTokens, tokenCases } from './token-cases.ts'

const azure = {
  tenant: '72f988bf-0001-41af-91ab-2d7cd011db47',
  client_id: '4ad1c9f2-7c5e-4c3a-9d9e-0c1f0a5b6c7d',
  client_secret: 'entra~secret-89ab',
}
/** Nobody has configured it. */
const principal = 'b3b2b1b0-aaaa-4bbb-8ccc-123456789abc'

const tokens = goodTokens('token-of-azure')
const refused =
  (status: number, code: string, message: string, headers = {}): Reply =>
  () =>
    jsonReply({ error: { code, message } }, { status, headers })

const denied = { status: 502, code: 'upstream_permission_denied', tokens }
const failed = { status: 502, code: 'upstream_error', tokens }
const limited = { status: 429, code: 'upstream_rate_limited', tokens }
const inside = { only: 'stream', inside: true } as const
const sse = (...events: string[]): Reply => {
  const text = events.map((each) => `data: ${each}\n\n`).join('')
  return () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}
const said = (code: string, message: string): string => JSON.stringify({ error: { code, message } })

const cases: Case[] = [
  ...tokenCases(
    `AADSTS7000215: Invalid client secret for app '${azure.client_id}' in ${azure.tenant}`,
    (authority) => ({ authority }),
  ),
  {
    ...{ name: 'token refused', ...denied, says: /audience is incorrect/ },
    calls: refused(
      401,
      '401',
      `Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired. tenant ${azure.tenant}`,
    ),
  },
  {
    ...{ name: 'role without permission', ...denied, says: /lacks the required data action/ },
    calls: refused(
      401,
      'PermissionDenied',
      `The principal \`${principal}\` lacks the required data action \`Microsoft.CognitiveServices/accounts/OpenAI/deployments/chat/completions/action\``,
    ),
  },
  {
    ...{ name: 'tenant that does not match', ...denied, says: /does not match/ },
    calls: refused(400, 'Tenant', 'Token tenant does not match resource tenant. API key not found'),
  },
  {
    ...{ name: 'unknown deployment', ...denied, says: /deployment .*does not exist/ },
    calls: refused(
      404,
      'DeploymentNotFound',
      'The API deployment for this resource does not exist.',
    ),
  },
  {
    ...{ name: 'wrong resource or region', ...denied, says: /not found/ },
    calls: refused(404, '404', 'Resource not found'),
  },
  {
    ...{ name: 'behind a firewall', ...denied, says: /Virtual Network/ },
    calls: refused(403, '403', 'Access denied due to Virtual Network/Firewall rules.'),
  },
  {
    ...{ name: 'throttled', ...limited, says: /token rate limit/ },
    calls: refused(
      429,
      '429',
      `Requests have exceeded the token rate limit of subscription ${principal}`,
      { 'retry-after': '3' },
    ),
  },
  {
    ...{ name: 'filtered', status: 400, code: 'content_policy_violation', tokens, says: /filter/ },
    calls: refused(400, 'content_filter', 'The response was filtered by the content filter'),
  },
  {
    ...{ name: 'too much to do', status: 503, code: 'overloaded', tokens, says: /./ },
    calls: refused(503, 'ServiceUnavailable', 'The service is temporarily unavailable'),
  },
  {
    ...{ name: 'fails', ...failed, says: /server had an error/ },
    calls: refused(500, 'InternalServerError', 'The server had an error'),
  },
  {
    ...{ name: 'nobody there', status: 502, code: 'upstream_unreachable', says: /reached/, tokens },
    channel: { protocols: { chat: `http://127.0.0.1:${freePort()}` } },
  },
  {
    ...{ name: 'never begins', status: 504, code: 'upstream_timeout', says: /time/, tokens },
    ...{ calls: never, channel: { timeouts: { first_byte: '300ms' } } },
  },
  {
    ...{ name: 'throttled as the first event', ...limited, only: 'stream', says: /rate/ },
    calls: sse(said('rate_limit_exceeded', `rate of client ${azure.client_id}`)),
  },
  {
    ...{ name: 'throttled inside a stream', ...limited, ...inside, says: /rate/ },
    calls: sse(textChunk('Hello '), said('rate_limit_exceeded', `rate of ${azure.tenant}`)),
  },
  {
    ...{ name: 'stream that ends without an end', ...failed, ...inside, says: /upstream/ },
    calls: sse(textChunk('Hello ')),
  },
  {
    ...{ name: 'garbage', status: 502, code: 'upstream_invalid_response', tokens, says: /./ },
    ...{ only: 'json', calls: () => jsonReply(`{"choices": ${finishChunk()}`) },
  },
]

const cloud: Cloud = {
  name: 'Azure',
  channel: (base, authority, changed) => ({
    auth: { azure: { ...azure, authority, ...changed } },
    protocols: { chat: base },
  }),
  secrets: [...Object.values(azure), principal, 'token-of-azure'],
  cases,
}

let run: Run
beforeAll(async () => {
  run = await startRun(cloud)
})
afterAll(() => run.stop())

testCases(cloud, () => run)

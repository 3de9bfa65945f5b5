// What goes wrong before a call is sent: the clouds that give out tokens by HTTP fail in the same ways.
import { freePort } from '../../support/free-port.ts'
import { jsonReply } from '../../support/upstream.ts'
import { type Case, never, type Reply } from './run.ts'

const noToken = { status: 502, code: 'upstream_unreachable' }
const none = /^the cloud gave no access token for this channel: /

/** `ids`: what its descriptions name. `nobody`: a credential whose endpoint is not there. */
export const tokenCases = (ids: string, nobody: (address: string) => object): Case[] => [
  {
    ...{ name: 'token endpoint down', ...noToken, says: /no access token .*cannot be reached/ },
    auth: nobody(`http://127.0.0.1:${freePort()}`),
  },
  {
    ...{ name: 'token endpoint slow', status: 504, code: 'upstream_timeout', says: /in time|time/ },
    ...{ tokens: never, channel: { timeouts: { first_byte: '300ms' } } },
  },
  {
    ...{ name: 'token endpoint answers a page', ...noToken, says: none },
    tokens: () => new Response(`<html>${ids}</html>`, { headers: { 'content-type': 'text/html' } }),
  },
  {
    ...{ name: 'token endpoint answers without a token', ...noToken, says: none },
    tokens: () => jsonReply({ expires_in: 3599, id_token: ids }),
  },
  {
    ...{ name: 'token that no header can carry', ...noToken, says: none },
    tokens: () => jsonReply({ access_token: 'a\r\nb: c', expires_in: 3599 }),
  },
  {
    ...{ name: 'client refused (401)', ...noToken, says: /401 invalid_client/ },
    tokens: () => jsonReply({ error: 'invalid_client', error_description: ids }, { status: 401 }),
  },
  {
    ...{
      name: 'grant refused (400)',
      ...noToken,
      says: /400 invalid_grant (AADSTS\d+|\(is the clock right)/,
    },
    tokens: () => jsonReply({ error: 'invalid_grant', error_description: ids }, { status: 400 }),
  },
  {
    ...{ name: 'error that is an object', ...noToken, says: /: 403$|: 403 / },
    tokens: () => jsonReply({ error: { message: ids } }, { status: 403 }),
  },
  {
    ...{ name: 'too many token requests (429)', ...noToken, says: /: 429/ },
    tokens: () => jsonReply({ error: 'too_many_requests' }, { status: 429 }),
  },
  {
    ...{ name: 'token endpoint fails (500)', ...noToken, says: /: 500/ },
    tokens: () => new Response(ids, { status: 500 }),
  },
  {
    // Redirects would take the credential elsewhere.
    ...{ name: 'token endpoint redirects', ...noToken, says: /: 302/ },
    tokens: () => Response.redirect('http://127.0.0.1:9/elsewhere', 302),
  },
]

/** A good token, each another. */
export const goodTokens =
  (name: string, seconds = 3599): Reply =>
  (_, nth) =>
    jsonReply({ access_token: `${name}-${nth}`, expires_in: seconds })

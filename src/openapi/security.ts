// Ways to show who asks, as documents tell of them.
import type { Operation } from '../http/operation.ts'

type Credential = Operation['credential']

const inHeader = (name: string, description: string) => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

const known: Readonly<Record<string, object>> = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of the gateway: `sk-…`.' },
  apiKey: inHeader('x-api-key', 'The same token.'),
  vendorgKey: inHeader('x-vendorg-api-key', 'The same token.'),
  googKey: inHeader('x-goog-api-key', 'The same token.'),
  queryKey: { type: 'apiKey', in: 'query', name: 'key', description: 'The same token.' },
  adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-gateway-session',
    description: 'A session of the console; changes only from its own pages.',
  },
}

const byCredential: Readonly<Record<Credential, readonly string[]>> = {
  token: ['token', 'apiKey', 'vendorgKey', 'googKey'],
  vendorg: ['vendorgKey', 'token', 'apiKey', 'googKey', 'queryKey'],
  admin: ['adminToken', 'session'],
  none: [],
}

/** Any one of them. */
export const securityOf = (credential: Credential): object[] =>
  byCredential[credential].map((name) => ({ [name]: [] }))

export function schemes(credentials: ReadonlySet<Credential>): Record<string, unknown> {
  const names = new Set([...credentials].flatMap((each) => byCredential[each]))
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.has(name)))
}

export const callbackHeaders = [
  ['webhook-id', 'Stays the same when it is sent again.'],
  ['webhook-timestamp', 'Seconds since 1970.'],
  ['webhook-signature', '`v1,` and the signature.'],
].map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}))

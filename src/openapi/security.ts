// Security schemes, as documents describe them.
import type { Dialect, KeyPlace } from '../http/dialect.ts'
import type { Operation } from '../http/operation.ts'

type Credential = Operation['credential']

const sameToken = 'The same token.'

const bearerToken = {
  type: 'http',
  scheme: 'bearer',
  description: 'A token of the gateway: `sk-…`.',
}

const administration = {
  adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-gateway-session',
    description: 'A session of the console; changes only from its own pages.',
  },
}

/** Any one of them. */
export function securityOf(credential: Credential, { securityIds }: Dialect): object[] {
  if (credential === 'none') return []
  const ids = credential === 'admin' ? Object.keys(administration) : securityIds
  return ids.map((id) => ({ [id]: [] }))
}

export function schemes(
  credentials: ReadonlySet<Credential>,
  places: readonly KeyPlace[],
): Record<string, unknown> {
  const keys = places.map(({ id, ...place }): [string, object] => [
    id,
    { type: 'apiKey', ...place, description: sameToken },
  ])
  return {
    ...(credentials.has('token') && { token: bearerToken, ...Object.fromEntries(keys) }),
    ...(credentials.has('admin') && administration),
  }
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

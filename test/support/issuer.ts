// A small OpenID Connect issuer on this machine: discovery, keys, authorization with PKCE, tokens signed
// with real keys, and user info. A test can change what it says, to see that lies are refused.
import { createHash } from 'node:crypto'

export interface IssuerPerson {
  sub: string
  preferred_username?: string
  email?: string
  groups?: readonly string[] | string
}

type Claims = Record<string, unknown>

/** What the issuer does wrong. */
export interface Lies {
  claims?: (claims: Claims) => Claims
  /** How the ID token is signed, instead of with the key that is published. */
  signature?: 'none' | 'other key' | 'client secret' | 'cut off'
  /** Parameters of the redirect back to the gateway. */
  redirect?: (query: URLSearchParams) => void
  /** Codes work any number of times. */
  keepsCodes?: boolean
  /** Fields of the discovery document. */
  metadata?: Claims
  /** Groups are told as user info only. */
  groupsInUserInfo?: boolean
}

export interface Issuer {
  url: string
  /** Who signs in next; no page asks. */
  person: IssuerPerson
  lies: Lies
  /** Paths that were asked for, the newest last. */
  asked: string[]
  /** Publishes another key and signs with it. */
  rotate(): Promise<void>
  stop(): void
}

interface Grant {
  nonce: string | null
  challenge: string | null
  redirectUri: string
  person: IssuerPerson
}

interface Key {
  kid: string
  alg: 'RS256' | 'ES256'
  pair: CryptoKeyPair
}

const algorithms = {
  RS256: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
} as const

let made = 0

async function newKey(alg: Key['alg']): Promise<Key> {
  const pair = await crypto.subtle.generateKey(algorithms[alg], true, ['sign', 'verify'])
  return { kid: `key-${++made}`, alg, pair: pair as CryptoKeyPair }
}

const encoded = (value: string | Uint8Array): string => Buffer.from(value).toString('base64url')

async function jwt(claims: Claims, key: Key, signature: Lies['signature'], secret: string) {
  const isNone = signature === 'none'
  const isSecret = signature === 'client secret'
  const header = isNone ? { alg: 'none' } : { alg: isSecret ? 'HS256' : key.alg, kid: key.kid }
  const text = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(claims))}`
  if (isNone) return `${text}.`
  if (isSecret) {
    return `${text}.${new Bun.CryptoHasher('sha256', secret).update(text).digest('base64url')}`
  }
  const { privateKey } = signature === 'other key' ? (await newKey(key.alg)).pair : key.pair
  const bytes = await crypto.subtle.sign(algorithms[key.alg], privateKey, Buffer.from(text))
  const signed = encoded(new Uint8Array(bytes))
  return `${text}.${signature === 'cut off' ? signed.slice(0, -8) : signed}`
}

/** In the header or in the body. */
function isKnown(
  client: { id: string; secret: string },
  header: string | null,
  form: URLSearchParams,
): boolean {
  const [id, secret] =
    header === null
      ? [form.get('client_id'), form.get('client_secret')]
      : atob(header.replace('Basic ', '')).split(':').map(decodeURIComponent)
  return id === client.id && secret === client.secret
}

export async function startIssuer(client: { id: string; secret: string }): Promise<Issuer> {
  let key = await newKey('RS256')
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, IssuerPerson>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => answer(new URL(request.url), request),
  })
  const url = `http://127.0.0.1:${server.port}`
  const issuer: Issuer = {
    url,
    person: { sub: 'nobody' },
    lies: {},
    asked: [],
    async rotate() {
      key = await newKey(key.alg === 'RS256' ? 'ES256' : 'RS256')
    },
    stop: () => void server.stop(true),
  }

  async function answer(at: URL, request: Request): Promise<Response> {
    issuer.asked.push(at.pathname)
    if (at.pathname === '/.well-known/openid-configuration') return Response.json(metadata())
    if (at.pathname === '/jwks') {
      const jwk = await crypto.subtle.exportKey('jwk', key.pair.publicKey)
      return Response.json({ keys: [{ ...jwk, kid: key.kid, alg: key.alg, use: 'sig' }] })
    }
    if (at.pathname === '/authorize') return authorize(at.searchParams)
    if (at.pathname === '/token') return token(request)
    if (at.pathname === '/userinfo') {
      const bearer = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
      const person = tokens.get(bearer)
      return person === undefined ? new Response(null, { status: 401 }) : Response.json(person)
    }
    return new Response(null, { status: 404 })
  }

  const metadata = () => ({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    userinfo_endpoint: `${url}/userinfo`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    scopes_supported: ['openid', 'profile', 'email', 'groups'],
    authorization_response_iss_parameter_supported: true,
    ...issuer.lies.metadata,
  })

  function authorize(query: URLSearchParams): Response {
    const redirectUri = query.get('redirect_uri') ?? ''
    const isComplete =
      query.get('client_id') === client.id &&
      query.get('response_type') === 'code' &&
      query.get('code_challenge_method') === 'S256' &&
      query.get('scope')?.split(' ').includes('openid') === true
    if (!isComplete) return new Response('bad request', { status: 400 })
    const code = crypto.randomUUID()
    const { nonce, challenge } = {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
    }
    grants.set(code, { nonce, challenge, redirectUri, person: issuer.person })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', query.get('state') ?? '')
    back.searchParams.set('iss', url)
    issuer.lies.redirect?.(back.searchParams)
    return new Response(null, { status: 302, headers: { location: back.href } })
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text())
    const isClient = isKnown(client, request.headers.get('authorization'), form)
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    if (issuer.lies.keepsCodes !== true) grants.delete(code)
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      grant !== undefined &&
      form.get('redirect_uri') === grant.redirectUri &&
      verifier === grant.challenge
    if (!isClient) return Response.json({ error: 'invalid_client' }, { status: 401 })
    if (!isRight) return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const access_token = crypto.randomUUID()
    tokens.set(access_token, grant.person)
    const id_token = await idToken(grant)
    return Response.json({ access_token, token_type: 'Bearer', expires_in: 300, id_token })
  }

  function idToken({ nonce, person }: Grant): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const { groupsInUserInfo = false, claims = (all: Claims) => all, signature } = issuer.lies
    const { groups, ...rest } = person
    const all = {
      ...rest,
      ...(!groupsInUserInfo && groups !== undefined && { groups }),
      iss: url,
      aud: client.id,
      iat: now,
      exp: now + 300,
      ...(nonce !== null && { nonce }),
    }
    return jwt(claims(all), key, signature, client.secret)
  }

  return issuer
}

// The identity provider as openid-client speaks to it: where a sign-in starts, and who has come back from
// it. The library is loaded with the first sign-in. Knows no person of the gateway.
import type { Configuration, ServerMetadata } from 'openid-client'
import type { OidcSettings } from '../../contract/people.ts'
import { mayLackTls } from '../../lib/net/plain-http.ts'

/** What ties the answer of the provider to the browser that asked. */
export interface Checks {
  state: string
  nonce: string
  /** Of PKCE. */
  verifier: string
}

/** A person as the provider describes them. */
export interface Identity {
  /** Issuer and subject: the only name that stays. */
  subject: string
  /** Names to be known by, the best first. */
  names: readonly string[]
  groups: readonly string[]
  /** Names their session at the provider when they sign out. */
  idToken: string
}

const timeoutSeconds = 10
/** Metadata change rarely; keys are fetched for every sign-in, so that they can be rotated at any time. */
const metadataMs = 10 * 60_000
const failedMs = 2_000
const maxAnswerBytes = 1024 * 1024
const clockToleranceSeconds = 5

export class OidcProvider {
  readonly settings: OidcSettings
  #metadata: { found: Promise<ServerMetadata>; atMs: number } | undefined

  constructor(settings: OidcSettings) {
    this.settings = settings
  }

  /** Where the browser goes to sign in. */
  async startUrl(redirectUri: string, { state, nonce, verifier }: Checks): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
    const config = await this.#configure()
    const { scopes_supported: scopes = [] } = config.serverMetadata()
    const url = buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      // Some providers need the scope for the claim, others refuse what they do not know.
      scope: `openid profile email${scopes.includes('groups') ? ' groups' : ''}`,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    this.#checkAddress(url)
    return url
  }

  /** Throws when anything about the answer is wrong. `current` is the redirect URI with its query. */
  async identify(current: URL, { state, nonce, verifier }: Checks): Promise<Identity> {
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
    const config = await this.#configure()
    const tokens = await authorizationCodeGrant(config, current, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    const { issuer, userinfo_endpoint } = config.serverMetadata()
    // A provider of many tenants signs for all of them.
    if (claims === undefined || claims.iss !== issuer) throw new Error('unexpected issuer')
    const isIncomplete = claims['groups'] === undefined && userinfo_endpoint !== undefined
    const more = isIncomplete ? await fetchUserInfo(config, tokens.access_token, claims.sub) : {}
    const facts: Readonly<Record<string, unknown>> = { ...more, ...claims }
    return {
      subject: `${claims.iss} ${claims.sub}`,
      names: [facts['preferred_username'], facts['email'], claims.sub].filter(isText),
      groups: [facts['groups']].flat().filter(isText),
      idToken: tokens.id_token ?? '',
    }
  }

  /** Where the browser goes to sign out there, too; undefined: the provider has no such page. */
  async signOutUrl(returnTo: string, idToken: string | undefined): Promise<URL | undefined> {
    const { buildEndSessionUrl } = await import('openid-client')
    const config = await this.#configure()
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined
    const url = buildEndSessionUrl(config, {
      post_logout_redirect_uri: returnTo,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    })
    this.#checkAddress(url)
    return url
  }

  /** The metadata of the provider, or why they cannot be used. */
  async check(): Promise<{ signsOut: boolean } | { problem: string }> {
    try {
      const { authorization_endpoint, token_endpoint, jwks_uri, end_session_endpoint } =
        await this.#discover()
      const needed = { authorization_endpoint, token_endpoint, jwks_uri }
      for (const [name, address] of Object.entries(needed)) {
        if (address === undefined) return { problem: `its discovery document has no ${name}` }
        this.#checkAddress(new URL(address))
      }
      return { signsOut: end_session_endpoint !== undefined }
    } catch (error) {
      return { problem: reasonOf(error) }
    }
  }

  /** With an empty cache of keys. */
  async #configure(): Promise<Configuration> {
    const client = await import('openid-client')
    const metadata = await this.#discover()
    const { clientId } = this.settings
    const config = new client.Configuration(
      metadata,
      clientId,
      { [client.clockTolerance]: clockToleranceSeconds },
      await this.#authentication(metadata),
    )
    config.timeout = timeoutSeconds
    config[client.customFetch] = (url, options) => this.#fetch(url, options as RequestInit)
    if (this.#isPlain) client.allowInsecureRequests(config)
    // The signature of an ID token counts, also of one that came over TLS.
    client.enableNonRepudiationChecks(config)
    return config
  }

  /** In the body, unless the provider takes it in the header alone: not all decode what a header holds. */
  async #authentication({ token_endpoint_auth_methods_supported: methods }: ServerMetadata) {
    const { ClientSecretBasic, ClientSecretPost, None } = await import('openid-client')
    const { clientSecret } = this.settings
    if (clientSecret === undefined) return None()
    const isBody = methods?.includes('client_secret_post') ?? true
    return isBody ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
  }

  /** Asked once for all who wait; a failure is kept for a moment, so that a flood asks once in it. */
  #discover(): Promise<ServerMetadata> {
    const nowMs = performance.now()
    if (this.#metadata !== undefined && nowMs - this.#metadata.atMs < metadataMs) {
      return this.#metadata.found
    }
    const found = this.#askMetadata()
    const entry = { found, atMs: nowMs }
    this.#metadata = entry
    found.catch(() => {
      // As if it had been asked for long ago.
      entry.atMs = performance.now() - metadataMs + failedMs
    })
    return found
  }

  async #askMetadata(): Promise<ServerMetadata> {
    const client = await import('openid-client')
    const { issuer, clientId } = this.settings
    const config = await client.discovery(new URL(issuer), clientId, undefined, undefined, {
      timeout: timeoutSeconds,
      [client.customFetch]: (url, options) => this.#fetch(url, options as RequestInit),
      ...(this.#isPlain && { execute: [client.allowInsecureRequests] }),
    })
    return config.serverMetadata()
  }

  get #isPlain(): boolean {
    return this.settings.issuer.startsWith('http:')
  }

  async #fetch(address: string, options: RequestInit): Promise<Response> {
    this.#checkAddress(new URL(address))
    const tls = { rejectUnauthorized: true }
    return limited(await fetch(address, { ...options, redirect: 'manual', tls }))
  }

  /** Metadata lead nowhere that the issuer's own address could not be. */
  #checkAddress(url: URL): void {
    if (url.protocol === 'https:') return
    const { egressAllow } = this.settings
    if (url.protocol === 'http:' && this.#isPlain && mayLackTls(url, egressAllow)) return
    throw new Error('the provider names an address without TLS')
  }
}

/** The library wraps what went wrong. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: unknown }
  const inner = cause instanceof Error ? cause.message : undefined
  if (cause instanceof Response) return `its discovery document is answered with ${cause.status}`
  return inner === undefined || inner === message ? message : `${message} (${inner})`
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

async function limited(answer: Response): Promise<Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxAnswerBytes) throw new Error('the answer of the provider is too large')
    chunks.push(chunk)
  }
  const { status, headers } = answer
  // A body is not allowed with these.
  const body = status === 204 || status === 304 ? null : Buffer.concat(chunks)
  return new Response(body, { status, headers })
}

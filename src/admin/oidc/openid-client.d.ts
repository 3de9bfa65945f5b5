// The part of openid-client that the gateway uses.
declare module 'openid-client' {
  export interface ServerMetadata {
    readonly issuer: string
    readonly userinfo_endpoint?: string
    readonly scopes_supported?: string[]
    readonly token_endpoint_auth_methods_supported?: string[]
  }

  type Fetch = (url: string, options: object) => Promise<Response>
  type Extension = (config: Configuration) => void
  type ClientAuth = (...given: never[]) => void

  export const customFetch: unique symbol
  export const clockTolerance: unique symbol

  export class Configuration {
    constructor(
      server: ServerMetadata,
      clientId: string,
      metadata?: { [clockTolerance]?: number },
      authentication?: ClientAuth,
    )
    serverMetadata(): ServerMetadata
    /** In seconds. */
    timeout?: number;
    [customFetch]?: Fetch
  }

  export function discovery(
    server: URL,
    clientId: string,
    metadata: undefined,
    authentication: undefined,
    options: { timeout: number; [customFetch]: Fetch; execute?: Extension[] },
  ): Promise<Configuration>
  export const allowInsecureRequests: Extension
  export const enableNonRepudiationChecks: Extension
  export function ClientSecretBasic(secret: string): ClientAuth
  export function ClientSecretPost(secret: string): ClientAuth
  export function None(): ClientAuth
  export function calculatePKCECodeChallenge(verifier: string): Promise<string>
  export function buildAuthorizationUrl(
    config: Configuration,
    parameters: Readonly<Record<string, string>>,
  ): URL

  interface Tokens {
    access_token: string
    claims(): { iss: string; sub: string; [name: string]: unknown } | undefined
  }

  export function authorizationCodeGrant(
    config: Configuration,
    current: URL,
    checks: {
      expectedState: string
      expectedNonce: string
      pkceCodeVerifier: string
      idTokenExpected: boolean
    },
  ): Promise<Tokens>
  export function fetchUserInfo(
    config: Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Record<string, unknown>>
}

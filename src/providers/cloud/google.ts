// Tokens of a service account: an assertion signed with its key, exchanged for an access token; or those of the
// account that the machine runs as, from its metadata server.
import { sign } from 'node:crypto'
import type { CloudCredential } from '../../contract/catalog.ts'
import { CredentialError } from '../common/credential-error.ts'
import type { TokenRequest } from './tokens.ts'

const usualTokenUri = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const lifeSeconds = 3600
const usualMetadata = 'http://metadata.google.internal'

type Google = Extract<CloudCredential, { kind: 'google' }>

export function googleToken({ account, metadata }: Google, nowMs: number): TokenRequest {
  if (account === undefined) return machineToken(metadata ?? usualMetadata)
  const url = account.token_uri ?? usualTokenUri
  const iat = Math.floor(nowMs / 1000)
  const claims = { iss: account.client_email, scope, aud: url, iat, exp: iat + lifeSeconds }
  const kid = account.private_key_id
  const head = { alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) }
  const text = `${encoded(head)}.${encoded(claims)}`
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  return { url, form: { grant_type, assertion: `${text}.${signed(text, account.private_key)}` } }
}

const machineToken = (host: string): TokenRequest => ({
  url: `${host.replace(/\/+$/, '')}/computeMetadata/v1/instance/service-accounts/default/token`,
  headers: { 'metadata-flavor': 'Google' },
})

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(text: string, key: string): string {
  try {
    return sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')
  } catch {
    // The error would repeat parts of the key.
    throw new CredentialError('the private key of the service account cannot be used')
  }
}

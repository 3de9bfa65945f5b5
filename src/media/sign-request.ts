// Signature version 4 of requests to an S3-compatible store. Pure: knows no network and no clock.
import { createHash, createHmac } from 'node:crypto'

export interface Signing {
  region: string
  accessKey: string
  secretKey: string
}

interface Unsigned {
  method: string
  url: URL
  /** Names in lower case; the host is taken from the address. */
  headers?: Readonly<Record<string, string>>
  /** Of the body, in hex. */
  payloadHash: string
}

const algorithm = 'AWS4-HMAC-SHA256'

export const sha256Hex = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** The headers to send: the given ones, the date, the hash of the body and the signature over all. */
export function signRequest(
  { method, url, headers = {}, payloadHash }: Unsigned,
  { region, accessKey, secretKey }: Signing,
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request']
  const sent: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': payloadHash,
    'x-amz-date': time,
  }
  const signed = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`)
  const canonical = [
    method,
    encodePath(url.pathname),
    canonicalQuery(url.searchParams),
    lines.join(''),
    names,
    payloadHash,
  ].join('\n')
  const toSign = [algorithm, time, scope.join('/'), sha256Hex(canonical)].join('\n')
  const key = scope.reduce<string | Uint8Array>(hmac, `AWS4${secretKey}`)
  const signature = hmac(key, toSign).toString('hex')
  const credential = `${accessKey}/${scope.join('/')}`
  sent['authorization'] =
    `${algorithm} Credential=${credential},SignedHeaders=${names},Signature=${signature}`
  return sent
}

/** Everything but letters, digits and -._~ in percent form. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Encodes a path exactly once, whether it was encoded or not. */
export const encodePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encode(decodeURIComponent(part)))
    .join('/')

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')

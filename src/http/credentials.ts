// One extractor for every way a caller may send its token. Two different tokens in one request, or
// one header sent twice, is a mistake the gateway does not guess about.
import { type Refusal, refuse } from '../contract/errors.ts'
import type { Exchange } from './exchange.ts'

const keyHeaders = ['x-api-key', 'x-vendorg-api-key', 'x-goog-api-key'] as const

/** The token, undefined when there is none. */
export function credentialOf(x: Exchange): string | undefined | Refusal {
  const { headers } = x.request
  const authorization = headers.get('authorization')
  let found: string | undefined
  let foundIn = 'authorization'
  if (authorization !== null) {
    if (authorization.includes(',')) return twice('authorization')
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization)
    if (bearer === null) {
      return refuse(
        'invalid_api_key',
        'the Authorization header is not of the form "Bearer <token>"',
      )
    }
    found = bearer[1]
  }
  for (const name of keyHeaders) {
    const value = headers.get(name)
    if (value === null) continue
    if (value.includes(',')) return twice(name)
    if (found !== undefined && found !== value) return conflicting(foundIn, name)
    found = value
    foundIn = name
  }
  if (!x.path.startsWith('/vendorg/')) return found
  const keys = new URL(x.request.url).searchParams.getAll('key')
  if (keys.length > 1) return twice('key')
  const key = keys[0]
  if (key === undefined) return found
  return found !== undefined && found !== key ? conflicting(foundIn, '?key=') : key
}

/** Names the header that callers of this interface know first. */
export const missingCredential = ({ path }: Exchange): Refusal =>
  refuse(
    'invalid_api_key',
    path.startsWith('/vendorg/')
      ? 'no API token was given; send it as "x-vendorg-api-key: <token>"'
      : 'no API token was given; send it as "Authorization: Bearer <token>"',
  )

const twice = (name: string): Refusal =>
  refuse('invalid_request', `'${name}' was given twice; send the token once`)

const conflicting = (one: string, other: string): Refusal =>
  refuse(
    'invalid_request',
    `two different tokens were given, in '${one}' and in '${other}'; send only one`,
  )

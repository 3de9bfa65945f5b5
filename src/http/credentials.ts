// Extracts the token from every place where a caller may send it. Two different tokens in one request, or
// one header sent twice, are refused.
import { type Refusal, refuse } from '../contract/errors.ts'
import type { RequestContext } from './request-context.ts'

/** The token, undefined when there is none. */
export function credentialOf(x: RequestContext): string | undefined | Refusal {
  const { headers } = x.request
  const { keyHeaders, queryKey } = x.dialect
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
  if (queryKey === undefined) return found
  const keys = new URL(x.request.url).searchParams.getAll(queryKey)
  if (keys.length > 1) return twice(queryKey)
  const key = keys[0]
  if (key === undefined) return found
  return found !== undefined && found !== key ? conflicting(foundIn, `?${queryKey}=`) : key
}

export const missingCredential = ({ dialect }: RequestContext): Refusal =>
  refuse('invalid_api_key', `no API token was given; send it as "${dialect.tokenHint}"`)

const twice = (name: string): Refusal =>
  refuse('invalid_request', `'${name}' was given twice; send the token once`)

const conflicting = (one: string, other: string): Refusal =>
  refuse(
    'invalid_request',
    `two different tokens were given, in '${one}' and in '${other}'; send only one`,
  )

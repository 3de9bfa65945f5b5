// Credentials of the imgvendor protocol: a plain key or, of an account with an access key and a
// secret key, a token that is signed with the latter and lasts a while.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { asObject, asText, type Json } from '../http/fields.ts'
import { bearerKey, type Fault } from '../protocol.ts'
import { codeWords } from './errors.ts'

interface SignedToken {
  header: Json
  claims: Json
  signed: string
  signature: Buffer
}

const maxTokenLetters = 4096

/** The caller: the access key of a signed token, else the key itself. */
export function readImgvendorKey(headers: Headers): string {
  const key = bearerKey(headers)
  return asText(readToken(key)?.claims['iss']) || key
}

/** `wanted` of the form `access|secret` asks for signed tokens; undefined takes anything sound. */
export function faultOfKey(
  headers: Headers,
  wanted: string | undefined,
  nowMs: number,
): Fault | undefined {
  const [access = '', secret] = wanted?.split('|') ?? []
  const presented = bearerKey(headers)
  if (wanted !== undefined && presented === '') {
    return unauthorized(headers.get('authorization') ? 1002 : 1001)
  }
  const token = readToken(presented)
  if (wanted !== undefined && secret === undefined) {
    return presented === wanted ? undefined : unauthorized(1000)
  }
  if (token === undefined) return wanted === undefined ? undefined : unauthorized(1002)
  if (token.header['alg'] !== 'HS256') return unauthorized(1002)
  if (secret !== undefined && !(token.claims['iss'] === access && isSignedWith(token, secret))) {
    return unauthorized(1000)
  }
  return faultOfTimes(token.claims, nowMs / 1000)
}

function faultOfTimes({ exp, nbf }: Json, nowSeconds: number): Fault | undefined {
  if (typeof exp !== 'number' || typeof nbf !== 'number') return unauthorized(1002)
  if (nbf > nowSeconds) return unauthorized(1003)
  return exp <= nowSeconds ? unauthorized(1004) : undefined
}

const unauthorized = (code: number): Fault => ({
  status: 401,
  message: codeWords.get(code) ?? '',
  code: String(code),
})

/** Undefined when it is no token of that kind at all. */
function readToken(text: string): SignedToken | undefined {
  const [head = '', body = '', signature = '', ...rest] = text.split('.')
  if (signature === '' || rest.length > 0 || text.length > maxTokenLetters) return undefined
  try {
    return {
      header: asObject(JSON.parse(decode(head).toString())),
      claims: asObject(JSON.parse(decode(body).toString())),
      signed: `${head}.${body}`,
      signature: decode(signature),
    }
  } catch {
    return undefined
  }
}

const decode = (text: string): Buffer => Buffer.from(text, 'base64url')

function isSignedWith({ signed, signature }: SignedToken, secret: string): boolean {
  const right = createHmac('sha256', secret).update(signed).digest()
  return right.length === signature.length && timingSafeEqual(right, signature)
}

// The client of a channel that belongs to a cloud account: every request gets its token or signature last,
// over what is sent. One source of tokens for all calls with the same credential, over reloads too.
import type { CloudCredential } from '../../contract/catalog.ts'
import type { HttpAnswer, HttpPort } from '../../contract/http.ts'
import { HttpError } from '../../lib/http/error.ts'
import { AwsSigner } from './aws.ts'
import { azureToken } from './azure.ts'
import { googleToken } from './google.ts'
import { TokenSource } from './tokens.ts'

/** Whose credential is gone for long is forgotten. */
const maxSources = 500

interface Source {
  credential: CloudCredential
  signer?: AwsSigner
  tokens?: TokenSource
}

const sources = new Map<string, Source>()

function sourceOf(key: string): Source {
  const known = sources.get(key)
  if (known !== undefined) return known
  const credential = JSON.parse(key) as CloudCredential
  const made: Source = { credential }
  if (credential.kind === 'aws') made.signer = new AwsSigner(credential)
  else if (credential.kind === 'azure') made.tokens = new TokenSource(() => azureToken(credential))
  else made.tokens = new TokenSource((nowMs) => googleToken(credential, nowMs))
  if (sources.size >= maxSources) sources.delete(sources.keys().next().value!)
  sources.set(key, made)
  return made
}

/** The project that calls of this credential name in their path. */
export function projectOf(key: string): string {
  const { credential } = sourceOf(key)
  return credential.kind === 'google' ? (credential.project ?? '') : ''
}

/** What providers set for a key has no place beside it. */
const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']

type Headers = Readonly<Record<string, string>>
type Sent = ReturnType<HttpPort['get']>

/** `http` with the credential that is kept as this key. */
export function cloudClient(http: HttpPort, key: string): HttpPort {
  const source = sourceOf(key)
  return {
    post: (url, headers, body, limits) =>
      authorized(source, http, { method: 'POST', url, headers, body, limits }, (given) =>
        http.post(url, given, body, limits),
      ),
    get: (url, headers, limits) =>
      authorized(source, http, { method: 'GET', url, headers, limits }, (given) =>
        http.get(url, given, limits),
      ),
    delete: (url, headers, limits) =>
      authorized(source, http, { method: 'DELETE', url, headers, limits }, (given) =>
        http.delete(url, given, limits),
      ),
  }
}

interface Request {
  method: string
  url: string
  headers: Headers
  body?: string | Uint8Array
  limits: { connectMs: number }
}

/** It can be cancelled while its token is fetched. */
function authorized(
  source: Source,
  http: HttpPort,
  request: Request,
  send: (headers: Headers) => Sent,
): Sent {
  let running: Sent | undefined
  let isCancelled = false
  const stopped = Promise.withResolvers<never>()
  const begin = (headers: Headers): Promise<HttpAnswer> => {
    if (isCancelled) throw new HttpError('cancelled', 'cancelled before it was sent')
    running = send(headers)
    return running.answer
  }
  return {
    answer: Promise.race([answerOf(source, http, request, begin), stopped.promise]),
    cancel() {
      isCancelled = true
      if (running !== undefined) return running.cancel()
      // The token itself is fetched for others too.
      stopped.reject(new HttpError('cancelled', 'cancelled before it was sent'))
    },
  }
}

async function answerOf(
  { signer, tokens }: Source,
  http: HttpPort,
  { method, url, headers, body, limits }: Request,
  begin: (headers: Headers) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const plain: Record<string, string> = { ...headers }
  for (const name of keyHeaders) delete plain[name]
  if (signer !== undefined) {
    const answer = await begin(await signer.sign(method, url, plain, body))
    if (!signer.isSkewed(answer)) return answer
    answer.cancel()
    return begin(await signer.sign(method, url, plain, body))
  }
  const held = tokens!.token
  const token = await tokens!.get(http, limits)
  const answer = await begin({ ...plain, authorization: `Bearer ${token}` })
  if (answer.status !== 401) return answer
  tokens!.drop(token)
  // Revoked before its end, perhaps: one that was fetched for this call would not be better again.
  if (held !== token) return answer
  answer.cancel()
  return begin({ ...plain, authorization: `Bearer ${await tokens!.get(http, limits)}` })
}

// Signs requests with Signature Version 4. The clock of AWS decides: where it differs, the next signature is
// made for its time, and a request that was refused for that is signed and sent once more.
import type { AwsV4Signer } from 'aws4fetch'
import type { CloudCredential } from '../../contract/catalog.ts'
import type { HttpAnswer } from '../../contract/http.ts'

type Aws = Extract<CloudCredential, { kind: 'aws' }>
type Headers = Readonly<Record<string, string>>

/** Not that of the host's name. */
const service = 'bedrock'
/** One for each day and region. */
const maxKeys = 8
const minSkewMs = 60_000
const skewed =
  /Signature(?:Expired|DoesNotMatch)|InvalidSignature|RequestExpired|RequestTimeTooSkewed/

let signer: Promise<typeof AwsV4Signer> | undefined

export class AwsSigner {
  readonly #credential: Aws
  readonly #keys = new Map<string, ArrayBuffer>()
  #skewMs = 0

  constructor(credential: Aws) {
    this.#credential = credential
  }

  async sign(
    method: string,
    url: string,
    headers: Headers,
    body: string | Uint8Array | undefined,
    nowMs = Date.now(),
  ): Promise<Headers> {
    signer ??= import('aws4fetch').then((library) => library.AwsV4Signer)
    const Signer = await signer
    if (this.#keys.size > maxKeys) this.#keys.clear()
    const { access_key, secret_key, session_token, region } = this.#credential
    const at = new Date(nowMs + this.#skewMs).toISOString()
    const made = await new Signer({
      ...{ method, url, service, region, cache: this.#keys },
      accessKeyId: access_key,
      secretAccessKey: secret_key,
      datetime: at.replaceAll(/[:-]|\.\d{3}/g, ''),
      ...(session_token !== undefined && { sessionToken: session_token }),
      ...(body !== undefined && { body: body as string }),
    }).sign()
    const sent: Record<string, string> = { ...headers }
    for (const name of ['authorization', 'x-amz-date', 'x-amz-security-token']) {
      const value = made.headers.get(name)
      if (value !== null) sent[name] = value
    }
    return sent
  }

  /** Whether it was refused for its time, which the next one has right. */
  isSkewed(answer: HttpAnswer, nowMs = Date.now()): boolean {
    if (answer.status !== 403 && answer.status !== 400) return false
    if (!skewed.test(answer.header('x-amzn-errortype') ?? '')) return false
    const skewMs = Date.parse(answer.header('date') ?? '') - nowMs
    if (!(Math.abs(skewMs - this.#skewMs) >= minSkewMs)) return false
    this.#skewMs = skewMs
    return true
  }
}

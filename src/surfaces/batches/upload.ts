// A file as a form: its content is stored while it arrives; the fields may come before it or after.
import { maxFileBytes, type ReceivedFile } from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isForm } from '../../http/body/read-form.ts'
import { BadForm, StreamForm, type StreamPart } from '../../http/body/stream-form.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { wrong } from '../common/fields.ts'
import type { SurfaceDeps } from '../common/surface.ts'
import type { Outcome } from '../media/as-caller.ts'
import { fileView } from './view.ts'

/** Of a form, besides its file. */
const maxFieldBytes = 64 * 1024
const maxParts = 16
/** However slow the caller is. */
const maxUploadMs = 30 * 60_000
const maxName = 255

const fieldNames = ['purpose', 'expires_after[anchor]', 'expires_after[seconds]']
const [minSeconds, maxSeconds] = [3_600, 2_592_000]

interface Form {
  fields: Map<string, string>
  filename: string
  received: ReceivedFile | undefined
}

export async function upload(
  { api, limits }: SurfaceDeps,
  x: RequestContext,
  token: Token,
): Promise<Outcome> {
  const refused = api.refusalBeforeBody(token, true)
  if (refused !== undefined) return refused
  if (!isForm(x)) {
    return refuse('unsupported_media_type', 'send a file as multipart/form-data')
  }
  const declared = Number(x.request.headers.get('content-length') ?? 0)
  if (declared > maxFileBytes + maxFieldBytes) return tooLarge
  const form: Form = { fields: new Map(), filename: '', received: undefined }
  const problem =
    (await readParts(form, x, limits.bodyMs, (content) => api.receiveFile(token, content))) ??
    problemIn(form)
  const { received } = form
  if (problem !== undefined || received === undefined) {
    if (received !== undefined) await api.dropReceived(received)
    return problem ?? missing('file')
  }
  const seconds = form.fields.get('expires_after[seconds]')
  const terms = {
    filename: form.filename,
    ...(seconds !== undefined && { expiresAfterSeconds: Number(seconds) }),
  }
  const file = await api.keepFile(token, received, terms)
  return file instanceof Refusal ? file : answerJson(x, JSON.stringify(fileView(file)))
}

type Receive = (content: AsyncIterable<Uint8Array>) => Promise<ReceivedFile | Refusal>

async function readParts(
  form: Form,
  x: RequestContext,
  idleMs: number,
  receive: Receive,
): Promise<Refusal | undefined> {
  const late = { is: false }
  const source = inTime(x.request, idleMs, late)
  try {
    const contentType = x.request.headers.get('content-type') ?? ''
    const parts = new StreamForm(source, contentType)
    let count = 0
    for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
      if (++count > maxParts) return refuse('invalid_request', 'the form has too many parts')
      const refused = await readPart(form, part, receive)
      if (refused !== undefined) return refused
    }
    return undefined
  } catch (error) {
    if (late.is || !(error instanceof BadForm)) return notArrived(error)
    return refuse('invalid_request', error.message)
  } finally {
    await source.return(undefined)
  }
}

const notArrived = (cause: unknown): Refusal =>
  refuse('invalid_request', 'the request body did not arrive completely', { cause })

async function readPart(
  form: Form,
  part: StreamPart,
  receive: Receive,
): Promise<Refusal | undefined> {
  const { name, type, fileName, content } = part
  if (name === 'file' && type !== undefined) {
    if (form.received !== undefined) return wrong('file', "the form field 'file' is given twice")
    const received = await receive(content)
    if (received instanceof Refusal) return received
    form.received = received
    form.filename = plainName(fileName)
    return undefined
  }
  if (form.fields.has(name)) {
    return wrong(name.slice(0, 64), `the form field '${name.slice(0, 64)}' is given twice`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    size += chunk.byteLength
    if (size > maxFieldBytes) return tooLarge
    chunks.push(chunk)
  }
  form.fields.set(name, Buffer.concat(chunks).toString())
  return undefined
}

function problemIn({ fields }: Form): Refusal | undefined {
  for (const name of fields.keys()) {
    if (name === 'file') return wrong('file', "'file' must be a file")
    if (!fieldNames.includes(name)) {
      return wrong(name.slice(0, 64), `'${name.slice(0, 64)}' is not a field of a file`)
    }
  }
  const purpose = fields.get('purpose')
  if (purpose === undefined) return missing('purpose')
  if (purpose !== 'batch') return wrong('purpose', "'purpose' must be batch")
  const anchor = fields.get('expires_after[anchor]')
  const seconds = fields.get('expires_after[seconds]')
  if (anchor === undefined && seconds === undefined) return undefined
  if (anchor !== 'created_at') {
    return wrong('expires_after', "'expires_after.anchor' must be created_at")
  }
  const isWhole = /^\d{1,8}$/.test(seconds ?? '')
  if (!isWhole || Number(seconds) < minSeconds || Number(seconds) > maxSeconds) {
    const message = `'expires_after.seconds' must be from ${minSeconds} to ${maxSeconds}`
    return wrong('expires_after', message)
  }
  return undefined
}

const missing = (param: string): Refusal => wrong(param, `'${param}' is required`)

const tooLarge = refuse('request_too_large', `a file may have at most ${maxFileBytes} bytes`)

/** The last part of a path, without what a header or a terminal could take for something else. */
const plainName = (given = ''): string =>
  given
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, maxName) || 'file.jsonl'

/** The body as it arrives; it ends with an error when the caller pauses or takes too long. */
async function* inTime(
  request: Request,
  idleMs: number,
  late: { is: boolean },
): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader()
  if (reader === undefined) return
  const give = () => {
    late.is = true
    reader.cancel().catch(() => {})
  }
  const whole = setTimeout(give, maxUploadMs)
  try {
    for (;;) {
      const idle = setTimeout(give, idleMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(idle))
      if (done || late.is) return
      yield value
    }
  } finally {
    clearTimeout(whole)
    // What is left unread would be kept in memory.
    reader.cancel().catch(() => {})
  }
}

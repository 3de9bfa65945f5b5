// A form with a sound file: what the gateway itself must know of it. Everything else passes.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { CallQuantity, TextCall } from '../../contract/requests.ts'
import { isUpload, type Upload } from '../../http/body/read-form.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { audioFormat } from '../../lib/audio/measure.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { formats, type Method, maxFileBytes } from './request-fields.ts'

const rules = rulesWithout([
  'file',
  'prompt',
  'stream',
  'response_format',
  'known_speaker_references',
])

/** What upstreams that count tokens count for a second. */
const tokensPerSecond = 10

export const parserOf =
  (method: Method) =>
  ({ fields }: Pick<JsonBody, 'fields'>): TextCall | Refusal => {
    const model = modelIn(fields)
    if (model instanceof Refusal) return model
    const refused = strayFile(fields) ?? extraProblem(fields, rules) ?? fieldProblem(fields, method)
    if (refused !== undefined) return refused
    const file = fileIn(fields)
    if (file instanceof Refusal) return file
    const quantity = secondsOf(file)
    if (quantity instanceof Refusal) return quantity
    const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : ''
    return {
      interface: 'transcriptions',
      model,
      makes: 'transcription',
      method,
      stream: method === 'transcriptions' && isStreamed(fields),
      wantsUsage: true,
      body: '',
      fields: { ...fields, file },
      inputTokens: countTokens(prompt) + Math.ceil(quantity.counted * tokensPerSecond),
      // Only the upstream knows how many tokens sound has.
      inputBound: { maxTextTokens: 0, images: 0, isOpen: true, inputs: 1 },
      choices: 1,
      quantity,
    }
  }

/** Texts and subtitles do not come as events. */
const isStreamed = ({ stream, response_format: format }: Fields): boolean =>
  stream === 'true' && (format == null || /json$/.test(String(format)))

function strayFile(fields: Fields): Refusal | undefined {
  const name = Object.keys(fields).find((key) => key !== 'file' && holdsFile(fields[key]))
  return name === undefined ? undefined : wrong(name, `'${name}' must not be a file`)
}

const holdsFile = (value: unknown): boolean =>
  isUpload(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(holdsFile))

function fieldProblem(fields: Fields, method: Method): Refusal | undefined {
  const { response_format: format, stream, temperature, prompt, language } = fields
  const words: readonly string[] = formats[method]
  if (format != null && !words.some((word) => word === format)) {
    return wrong('response_format', `'response_format' must be one of ${words.join(', ')}`)
  }
  if (stream != null && stream !== 'true' && stream !== 'false') {
    return wrong('stream', "'stream' must be true or false")
  }
  const isHeat = /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(String(temperature))
  if (temperature != null && !isHeat) {
    return wrong('temperature', "'temperature' must be a number from 0 to 1")
  }
  for (const [name, value] of Object.entries({ prompt, language })) {
    if (value != null && typeof value !== 'string') return wrong(name, `'${name}' must be a text`)
  }
  const { chunking_strategy: strategy } = fields
  return strategy == null || typeof strategy === 'string' || isObject(strategy)
    ? undefined
    : wrong('chunking_strategy', "'chunking_strategy' must be a text or an object")
}

/** With its length, as far as it could be measured. */
interface Sound extends Upload {
  seconds?: number
}

function fileIn({ file }: Fields): Sound | Refusal {
  if (!isUpload(file) || file.bytes.length === 0) {
    return wrong('file', "'file' must be a sound file that is not empty")
  }
  if (file.bytes.length > maxFileBytes) {
    const message = `'file' is larger than ${maxFileBytes} bytes`
    return refuse('request_too_large', message, { param: 'file' })
  }
  // Upstreams tell formats apart by the name.
  const named = /\.\w{2,5}$/.test(file.fileName ?? '')
  return named ? file : { ...file, fileName: `audio.${extensionOf(file)}` }
}

const extensionOf = ({ bytes }: Upload): string => audioFormat(bytes) ?? 'mp3'

/** What is reported above twice the length of the file is not believed; short files are charged as longer ones. */
const plausibleFactor = 2
const plausibleSpareSeconds = 60
/** Of a small file that cannot be measured: the fewest bytes that a second of speech has. */
const minBytesPerSecond = 500
const maxUnmeasuredBytes = 64 * 1024

function secondsOf({ bytes, seconds: measured }: Sound): CallQuantity | Refusal {
  if (measured === undefined && bytes.length > maxUnmeasuredBytes) {
    const known = 'wav, mp3, flac, ogg, webm (Opus) or m4a (AAC)'
    return wrong('file', `the length of 'file' cannot be measured: send ${known}`)
  }
  const seconds = measured ?? bytes.length / minBytesPerSecond
  return {
    counted: seconds,
    // Upstreams round up, or hear a little more.
    max: Math.ceil(seconds) + 1,
    plausible: seconds * plausibleFactor + plausibleSpareSeconds,
    isEstimate: measured === undefined,
  }
}

// Transcription: what is said in a sound file, in its language or in English.
import { type Refusal, refuse } from '../../contract/errors.ts'
import { isForm, isUpload, readForm } from '../../http/body/read-form.ts'
import type { BodyLimits, JsonBody } from '../../http/body/read-json.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { audioSeconds } from '../../lib/audio/measure.ts'
import { measureLong } from '../../lib/json/json-thread.ts'
import type { Surface } from '../common/surface.ts'
import { serve, type TextShape } from '../text/serve.ts'
import { parserOf } from './parse.ts'
import { formats, formKeys, lists, type Method, maxFileBytes } from './request-fields.ts'

const methods = Object.keys(formats) as Method[]
const pathOf = (method: Method): string => `/v1/audio/${method}`

const shapeOf = (method: Method): TextShape => ({
  name: 'transcriptions',
  keys: formKeys,
  readBody,
  parse: parserOf(method),
  errorEvent: (errorBody) => `event: error\ndata: ${errorBody}\n\n`,
})

export const transcriptions: Surface = {
  name: 'transcriptions',
  interface: { kind: 'transcription', own: true, clientWords: [] },
  prefixes: methods.map(pathOf),
  browsers: true,
  loggedAs: 'transcriptions',
  operations: async () => (await import('./operations.ts')).transcriptionsOperations,
  mount(_, { api, limits, hotPost }) {
    for (const method of methods) {
      const shape = shapeOf(method)
      hotPost(pathOf(method), (x) => serve(shape, api, limits, x))
    }
  },
}

async function readBody(x: RequestContext, limits: BodyLimits): Promise<JsonBody | Refusal> {
  if (!isForm(x)) {
    return refuse('unsupported_media_type', 'send the body as multipart/form-data')
  }
  const form = await readForm(x, limits, formKeys, lists)
  if (!('fields' in form)) return form
  const { file } = form.fields
  if (!isUpload(file) || file.bytes.length > maxFileBytes) return { text: '', fields: form.fields }
  try {
    const seconds =
      file.bytes.length > longSoundBytes
        ? await measureLong(file.bytes, x.payer)
        : audioSeconds(file.bytes)
    return { text: '', fields: { ...form.fields, file: { ...file, seconds } } }
  } catch (cause) {
    return refuse('overloaded', "the length of 'file' could not be measured; try again", {
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** Smaller ones take a few milliseconds, whatever their parts are. */
const longSoundBytes = 64 * 1024

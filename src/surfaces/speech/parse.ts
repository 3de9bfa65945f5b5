// The speech request: what the gateway itself must know of it. Everything else passes.
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { templateTokens } from '../text/count-input.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { foreignIn } from '../text/refuse-extras.ts'
import { maxCharacters, speechFormats, speeds, streamFormats } from './request-fields.ts'

const rules = rulesWithout([
  'input',
  'instructions',
  'voice',
  'stream_format',
  'response_format',
  'speed',
])

export function parseSpeech({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const refused = extraProblem(fields, rules) ?? fieldProblem(fields)
  if (refused !== undefined) return refused
  const characters = charactersIn(fields)
  if (characters instanceof Refusal) return characters
  const kept = foreignIn(fields['voice'])
  if (kept !== undefined) return kept
  const { input, instructions } = fields
  return {
    interface: 'speech',
    model,
    makes: 'speech',
    // The file, too, goes to the caller while it is made.
    stream: true,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: countTokens(`${input} ${instructions ?? ''}`),
    inputBound: {
      maxTextTokens: Buffer.byteLength(text) + templateTokens.perCall,
      images: 0,
      isOpen: false,
      inputs: 1,
    },
    choices: 1,
    quantity: { counted: characters, max: characters, plausible: characters, isEstimate: false },
    speaks: true,
  }
}

/** Code points: what people see as one character may be several. */
function charactersIn({ input }: Fields): number | Refusal {
  if (typeof input !== 'string' || input === '') {
    return wrong('input', "'input' must be a non-empty string")
  }
  const characters = input.length > 2 * maxCharacters ? input.length : [...input].length
  if (characters <= maxCharacters) return characters
  return wrong('input', `'input' has more than ${maxCharacters} characters`)
}

function fieldProblem(fields: Fields): Refusal | undefined {
  const { voice, speed, instructions } = fields
  const name = isObject(voice) ? voice['id'] : voice
  if (typeof name !== 'string' || name === '') {
    return wrong('voice', "'voice' must be a non-empty string or {id}")
  }
  const isSpeed = typeof speed === 'number' && speed >= speeds.min && speed <= speeds.max
  if (speed != null && !isSpeed) {
    return wrong('speed', `'speed' must be a number from ${speeds.min} to ${speeds.max}`)
  }
  if (instructions != null && typeof instructions !== 'string') {
    return wrong('instructions', "'instructions' must be a string")
  }
  return (
    wordProblem(fields, 'response_format', speechFormats) ??
    wordProblem(fields, 'stream_format', streamFormats)
  )
}

function wordProblem(fields: Fields, name: string, words: readonly string[]): Refusal | undefined {
  const value = fields[name]
  if (value == null || words.some((word) => word === value)) return undefined
  return wrong(name, `'${name}' must be one of ${words.join(', ')}`)
}

// Reads a request for images, in the two forms the upstream knows: a conversation, or a prompt
// with images beside it.
import { asList, asObject, asText, invalid, isFault, type Json, missing } from '../http/fields.ts'
import {
  type ImageBatch,
  imageSeed,
  readSize,
  sourceOf,
  usualSide,
} from '../media/image-request.ts'
import type { Fault } from '../protocol.ts'

export interface ImageInput extends ImageBatch {
  /** Undefined when it is not known any more. */
  prompt: string | undefined
}

const maxImages = 10
const maxInputs = 9
const maxSeed = 2_147_483_647
const maxPromptLetters = 5000

export function readImageRequest(fields: Json): (ImageInput & { model: string }) | Fault {
  const model = asText(fields['model'])
  if (model === '') return missing('model')
  const input = asObject(fields['input'])
  const { prompt, images } = readInput(input)
  const fault = faultOfInput(prompt, images)
  if (fault !== undefined) return fault
  const parameters = asObject(fields['parameters'])
  const size = readParameters(parameters)
  if (isFault(size)) return size
  const { n: count = 1, ...others } = parameters
  const seed = imageSeed(model, prompt, input['negative_prompt'], images, others)
  return { model, prompt, count: Number(count), ...size, seed, ...sourceOf(images) }
}

/** Everything that is said and shown, in order. */
function readInput(input: Json): { prompt: string; images: string[] } {
  const parts = asList(input['messages']).flatMap((message) => asList(asObject(message)['content']))
  const texts = parts.map((part) => asText(asObject(part)['text'])).filter((text) => text !== '')
  const shown = parts.map((part) => asObject(part)['image']).filter((image) => image !== undefined)
  const beside = [input['images'], input['base_image_url'], input['ref_img']]
  const given = beside.flat().filter((image) => image !== undefined)
  return {
    prompt: [asText(input['prompt']), ...texts].filter((text) => text !== '').join('\n'),
    images: [...shown, ...given].map(asText),
  }
}

function faultOfInput(prompt: string, images: readonly string[]): Fault | undefined {
  if (prompt === '') return missing('input.messages')
  if (prompt.length > maxPromptLetters) {
    return invalid('input', `The prompt must have at most ${maxPromptLetters} letters.`)
  }
  if (images.length > maxInputs) {
    return invalid('input', `The input must have at most ${maxInputs} images.`)
  }
  if (images.every((url) => /^(https?|oss):\/\/.|^data:image\/./.test(url))) return undefined
  return invalid('input', 'An image must be an address or a data URI.')
}

function readParameters({ size = `${usualSide}*${usualSide}`, n = 1, seed = 0 }: Json) {
  const wrong = (name: string, be: string) =>
    invalid(`parameters.${name}`, `parameters.${name} must be ${be}.`)
  const read = readSize(asText(size), '*')
  if (read === undefined) return wrong('size', "of the form 'width*height', and not too large")
  if (!isWholeWithin(n, 1, maxImages)) return wrong('n', `from 1 to ${maxImages}`)
  if (!isWholeWithin(seed, 0, maxSeed)) return wrong('seed', `a whole number up to ${maxSeed}`)
  return read
}

const isWholeWithin = (value: unknown, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max

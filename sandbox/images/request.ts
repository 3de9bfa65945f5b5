// Reads a request for images, drawn or edited, as JSON or as a form, in which all is text.
import { asObject, asText, invalid, isFault, type Json, missing } from '../http/fields.ts'
import {
  type ImageBatch,
  imageSeed,
  readSize,
  sourceOf,
  usualFidelity,
  usualSide,
} from '../media/image-request.ts'
import type { Fault } from '../protocol.ts'

export interface ImagesRequest {
  prompt: string
  images: ImageBatch
  base64: boolean
}

const maxImages = 10
const maxInputs = 16
const maxPromptLetters = 32_000
const fidelities: Readonly<Record<string, number>> = { low: 30, high: 90 }

export function readImagesRequest(fields: Json, isEdit: boolean): ImagesRequest | Fault {
  const model = asText(fields['model'])
  if (model === '') return missing('model')
  const prompt = asText(fields['prompt'])
  if (prompt === '') return missing('prompt')
  if (prompt.length > maxPromptLetters) {
    return invalid('prompt', `'prompt' must have at most ${maxPromptLetters} letters.`)
  }
  const count = readCount(fields['n'] ?? 1)
  if (isFault(count)) return count
  const size = sizeOf(fields['size'] ?? 'auto')
  if (isFault(size)) return size
  const format = fields['response_format'] ?? 'url'
  if (format !== 'url' && format !== 'b64_json') {
    return invalid('response_format', "'response_format' must be 'url' or 'b64_json'.")
  }
  const inputs = isEdit ? readInputs(fields) : []
  if (isFault(inputs)) return inputs
  const fidelity = fidelities[asText(fields['input_fidelity'])] ?? usualFidelity
  const seed = imageSeed(model, prompt, String(fields['seed'] ?? ''), size, inputs)
  const images = { count, ...size, seed, ...sourceOf(inputs, fidelity) }
  return { prompt, images, base64: format === 'b64_json' }
}

function readCount(given: unknown): number | Fault {
  const isSound = /^\d{1,3}$/.test(String(given)) && Number(given) >= 1
  if (isSound && Number(given) <= maxImages) return Number(given)
  return invalid('n', `'n' must be a whole number from 1 to ${maxImages}.`)
}

function sizeOf(given: unknown): { width: number; height: number } | Fault {
  if (given === 'auto') return { width: usualSide, height: usualSide }
  const size = readSize(asText(given), 'x')
  return (
    size ?? invalid('size', "'size' must be of the form '<width>x<height>', or it is too large.")
  )
}

/** Addresses and data URIs in `images`, files in `image`; one or many. */
function readInputs(fields: Json): unknown[] | Fault {
  const given = [fields['images'], fields['image']].flat().filter((one) => one !== undefined)
  if (given.length === 0) return missing('image')
  if (given.length > maxInputs) {
    return invalid('image', `At most ${maxInputs} images can be edited at once.`)
  }
  const inputs = given.map(inputOf)
  if (inputs.every((one) => one !== undefined)) return inputs
  return invalid('image', 'An image must be an address, a data URI or a file of an image.')
}

function inputOf(entry: unknown): string | undefined {
  const { image_url: address, type, sha256, bytes } = asObject(entry)
  if (typeof sha256 === 'string') {
    return /^image\//.test(asText(type)) && bytes !== 0 ? sha256 : undefined
  }
  const url = asText(address ?? entry)
  return /^https?:\/\/.|^data:image\/[\w.+-]+;base64,./.test(url) ? url : undefined
}

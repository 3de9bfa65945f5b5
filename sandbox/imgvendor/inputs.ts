// The images and elements that a request for images starts from, and how much of them it wants.
import { asList, asObject, asText, invalid, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'

export interface Inputs {
  images: readonly string[]
  /** From 0 to 1. */
  fidelity?: number
  others: readonly unknown[]
}

const maxInputs = 10
const references = ['subject', 'face']

export function readGenerationInputs(model: string, fields: Json): Inputs | Fault {
  const { image = '', image_reference: reference, element_list: elements } = fields
  const images = [image].flat().filter((one) => one !== '')
  const fault =
    faultOfImages('image', images) ?? faultOfReference(model, fields) ?? faultOfFidelity(fields)
  if (fault !== undefined) return fault
  if (images.length > 0 && asText(fields['negative_prompt']) !== '') {
    return invalid('negative_prompt', 'negative_prompt is not supported together with image')
  }
  const fidelity = fields['image_fidelity']
  return {
    images: images.map(asText),
    ...(typeof fidelity === 'number' && { fidelity }),
    others: [reference, fields['human_fidelity'], elements],
  }
}

function faultOfReference(model: string, fields: Json): Fault | undefined {
  const { image = '', image_reference: reference = '' } = fields
  const takesReference = model.endsWith('v1-5')
  const wrong = (message: string) => invalid('image_reference', `image_reference ${message}`)
  if (reference === '') {
    return takesReference && image !== '' ? wrong('is required together with image') : undefined
  }
  if (!references.includes(asText(reference))) return wrong(`must be ${references.join(' or ')}`)
  if (!takesReference) return wrong(`is not supported by ${model}`)
  return image === '' ? wrong('needs an image') : undefined
}

function faultOfFidelity(fields: Json): Fault | undefined {
  const wrong = ['image_fidelity', 'human_fidelity'].find((name) => {
    const value = fields[name] ?? 0
    return typeof value !== 'number' || !(value >= 0 && value <= 1)
  })
  return wrong === undefined ? undefined : invalid(wrong, `${wrong} must be from 0 to 1`)
}

export function readOmniInputs(fields: Json): Inputs | Fault {
  const images = asList(fields['image_list']).map((entry) => asObject(entry)['image'])
  const elements = asList(fields['element_list']).map((entry) => asObject(entry)['element_id'])
  const fault = faultOfImages('image_list', images)
  if (fault !== undefined) return fault
  if (!elements.every((id) => Number.isSafeInteger(id))) {
    return invalid('element_list', 'element_id must be a whole number')
  }
  if (images.length + elements.length > maxInputs) {
    return invalid('image_list', `at most ${maxInputs} images and elements are supported`)
  }
  return { images: images.map(asText), others: elements }
}

/** Addresses, or plain Base64: this vendor does not read data URIs. */
function faultOfImages(name: string, images: readonly unknown[]): Fault | undefined {
  const isSound = (image: unknown) =>
    typeof image === 'string' &&
    (/^https?:\/\/./.test(image) || /^[\w+/-][\w+/\s-]*={0,2}$/.test(image))
  if (images.every(isSound)) return undefined
  return invalid(name, `${name} must be an address or Base64 without a prefix`)
}

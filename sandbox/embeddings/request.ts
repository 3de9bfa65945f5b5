// Reads an embeddings request: one input or many, each a text or a list of token numbers.
import { invalid, type Json, missing } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'

export type Input = string | readonly number[]

interface EmbeddingsRequest {
  model: string
  inputs: readonly Input[]
  dimensions: number
  base64: boolean
}

const maxInputs = 2048
const maxDimensions = 4096
const usualDimensions = 1024

export function readEmbeddingsRequest(fields: Json): EmbeddingsRequest | Fault {
  const { model } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  const inputs = readInputs(fields['input'])
  if (!Array.isArray(inputs)) return inputs
  const dimensions = fields['dimensions'] ?? usualDimensions
  if (!isIndex(dimensions) || dimensions < 1 || dimensions > maxDimensions) {
    const message = `'dimensions' must be a whole number from 1 to ${maxDimensions}.`
    return invalid('dimensions', message)
  }
  const format = fields['encoding_format'] ?? 'float'
  if (format !== 'float' && format !== 'base64') {
    return invalid('encoding_format', "'encoding_format' must be 'float' or 'base64'.")
  }
  return { model, inputs, dimensions, base64: format === 'base64' }
}

function readInputs(input: unknown): Input[] | Fault {
  if (input === undefined || input === null) return missing('input')
  if (isInput(input)) return [input]
  if (!Array.isArray(input) || input.length === 0 || !input.every(isInput)) {
    const kinds = 'a text, a list of texts, a list of token numbers or a list of such lists'
    return invalid('input', `'input' must be ${kinds}, and nothing in it may be empty.`)
  }
  if (input.length <= maxInputs) return input
  return invalid('input', `'input' must have at most ${maxInputs} entries, not ${input.length}.`)
}

const isInput = (value: unknown): value is Input => {
  if (typeof value === 'string') return value !== ''
  return Array.isArray(value) && value.length > 0 && value.every(isIndex)
}

const isIndex = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

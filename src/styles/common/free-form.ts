// Tools that take free text, for styles that have none: a function with one field, `input`, which
// holds the text.
import { isObject } from '../../lib/json/parse.ts'
import type { Json, Tool } from './conversation.ts'

export const freeFormSchema: Json = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

export function freeFormDescription({ description, freeForm }: Tool): string {
  const grammar = freeForm?.grammar
  return [
    ...(description ? [description] : []),
    'Put the raw text into `input`.',
    ...(grammar === undefined ? [] : [`The text must follow this grammar:\n${grammar}`]),
  ].join('\n\n')
}

export const wrapInput = (text: string): string => JSON.stringify({ input: text })

/** Text that is not wrapped is what the model wrote instead. */
export function unwrapInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value['input'] === 'string' ? value['input'] : text
  } catch {
    return text
  }
}

// The moderations protocol as an upstream speaks it: a text that names a category is flagged with it.
import { asObject, asText, isFault, type Json, missing } from '../http/fields.ts'
import { type Answer, type Call, type Fault, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { plainProtocol } from '../text/plain-protocol.ts'

const categories = [
  ...['harassment', 'harassment/threatening', 'hate', 'hate/threatening', 'illicit'],
  ...['illicit/violent', 'self-harm', 'self-harm/intent', 'self-harm/instructions', 'sexual'],
  ...['sexual/minors', 'violence', 'violence/graphic'],
]

export const moderations: ProtocolMaker = () => ({
  protocol: 'moderations',
  ...plainProtocol,
  routes: [{ method: 'POST', path: /^\/v1\/moderations$/, answer }],
})

function answer({ id, fields, directives }: Call): Answer {
  const request = readRequest(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const { model, inputs } = request
  return jsonAnswer({ id: `modr-${id}`, model, results: inputs.map(resultOf) })
}

function resultOf(text: string) {
  const isNamed = (category: string) => text.toLowerCase().includes(category.split('/')[0]!)
  const of = <T>(value: (category: string) => T) =>
    Object.fromEntries(categories.map((category) => [category, value(category)]))
  return {
    flagged: categories.some(isNamed),
    categories: of(isNamed),
    category_scores: of((category) => (isNamed(category) ? 0.97 : 0.0001)),
    category_applied_input_types: of((category) => (isNamed(category) ? ['text'] : [])),
  }
}

/** Texts of a list are judged one by one, parts together. */
function readRequest(fields: Json): { model: string; inputs: string[] } | Fault {
  const model = asText(fields['model'])
  if (model === '') return missing('model')
  const { input } = fields
  const given: unknown[] = Array.isArray(input) ? input : [input]
  if (given.length === 0 || given[0] == null || given[0] === '') return missing('input')
  if (given.every((each) => typeof each === 'string')) return { model, inputs: given }
  return { model, inputs: [given.map((each) => asText(asObject(each)['text'])).join(' ')] }
}

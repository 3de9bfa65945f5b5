// Signatures of thoughts must come back on the parts they were given out on. While thoughts are asked
// for, a call without one is refused too.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { digestOf, type Seals } from '../text/seals.ts'
import { field } from './request.ts'

/** Clients send these where they have no signature. */
const placeholders = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

/** Of the name alone: clients fill in defaults of the arguments before they send a call back. */
export const callDigest = (name: string): string => digestOf(name)

const partsOf = (content: unknown): Json[] => asList(asObject(content)['parts']).map(asObject)

export function sealFault(fields: Json, seals: Seals): Fault | undefined {
  const contents = asList(fields['contents']).map(asObject)
  for (const { role, parts } of contents) {
    for (const part of asList(parts).map(asObject)) {
      const seal = field(part, 'thoughtSignature')
      if (seal == null || placeholders.includes(asText(seal))) continue
      if (role !== 'model' || !isFor(part, seals.open(seal))) {
        return refused('Corrupted thought signature.')
      }
    }
  }
  return asksThoughts(fields) ? unsigned(contents) : undefined
}

const refused = (message: string): Fault => ({ status: 400, message, param: 'contents' })

function isFor(part: Json, claims: Json | undefined): boolean {
  if (claims === undefined) return false
  const { name } = asObject(field(part, 'functionCall'))
  return claims['call'] === (typeof name === 'string' ? callDigest(name) : '')
}

function asksThoughts(fields: Json): boolean {
  const settings = asObject(field(fields, 'generationConfig'))
  return field(asObject(field(settings, 'thinkingConfig')), 'includeThoughts') === true
}

/** Since the user last spoke, the first call of every turn needs one. */
function unsigned(contents: readonly Json[]): Fault | undefined {
  const spoke = contents.findLastIndex(
    (content) =>
      content['role'] !== 'model' && partsOf(content).some((part) => part['text'] != null),
  )
  for (const content of contents.slice(spoke + 1)) {
    const call = partsOf(content).find((part) => field(part, 'functionCall') != null)
    if (call === undefined || field(call, 'thoughtSignature') != null) continue
    const { name } = asObject(field(call, 'functionCall'))
    return refused(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly: function call \`${name}\`.`,
    )
  }
  return undefined
}

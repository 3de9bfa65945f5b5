// What an upstream of the generate style refuses besides what the sandbox needs to read a request.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { broken, fieldSet, firstFault, unknownField } from '../text/strict.ts'
import { field } from './request.ts'

/** The last two are the path's. */
const known = fieldSet(`
  contents systemInstruction system_instruction tools toolConfig tool_config safetySettings
  safety_settings generationConfig generation_config cachedContent cached_content serviceTier labels
  store model stream
`)
const toolName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/
/** Of its own kind of schema, which is not JSON Schema. */
const schemaWords = fieldSet(`
  type format title description nullable enum maxItems minItems properties required minProperties
  maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum
  additionalProperties
`)

export const strictFault = (fields: Json): Fault | undefined =>
  firstFault(fields, [checkFields, checkTools, checkTurns])

const partsOf = (content: Json): Json[] => asList(content['parts']).map(asObject)
const unknownName = (name: string): Fault =>
  broken(name, `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`)

function checkFields(fields: Json): Fault | undefined {
  const name = unknownField(fields, known)
  if (name !== undefined) return unknownName(name)
  const settings = asObject(field(fields, 'generationConfig'))
  const [plain, own] = [field(settings, 'responseJsonSchema'), field(settings, 'responseSchema')]
  if (plain != null && own != null) return broken('responseSchema', 'Only one schema can be set.')
  return schemaFault(own)
}

function checkTools(fields: Json): Fault | undefined {
  const declared = asList(fields['tools']).flatMap((tool) =>
    asList(field(asObject(tool), 'functionDeclarations')),
  )
  for (const one of declared.map(asObject)) {
    if (!toolName.test(asText(one['name'])))
      return broken('tools', `Invalid function name: ${one['name']}`)
    const fault = schemaFault(one['parameters'])
    if (fault !== undefined) return fault
  }
  return undefined
}

function schemaFault(given: unknown): Fault | undefined {
  const schema = asObject(given)
  const word = Object.keys(schema).find((name) => !schemaWords.has(name))
  if (word !== undefined) return unknownName(word)
  const inner = [
    schema['items'],
    ...asList(schema['anyOf']),
    ...Object.values(asObject(schema['properties'])),
  ]
  for (const one of inner) {
    const fault = one == null ? undefined : schemaFault(one)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The user begins; calls are answered by the next turn, each once and by name. */
function checkTurns(fields: Json): Fault | undefined {
  const contents = asList(fields['contents']).map(asObject)
  if (contents[0]?.['role'] === 'model')
    return broken('contents', 'The first content must be of the user.')
  for (const [at, content] of contents.entries()) {
    const parts = partsOf(content)
    if (parts.length === 0) return broken('contents', `contents[${at}].parts must not be empty.`)
    const before = at === 0 ? [] : namesOf(contents[at - 1]!, 'functionCall')
    const answered = namesOf(content, 'functionResponse')
    if (before.sort().join() !== answered.sort().join()) {
      const text =
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
      return broken('contents', text)
    }
  }
  const open = namesOf(contents.at(-1) ?? {}, 'functionCall')
  return open.length > 0
    ? broken('contents', 'The last content has calls without responses.')
    : undefined
}

const namesOf = (content: Json, kind: string): string[] =>
  partsOf(content)
    .map((part) => field(part, kind))
    .filter((one) => one != null)
    .map((one) => asText(asObject(one)['name']))

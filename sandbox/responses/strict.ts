// What an upstream of the responses style refuses besides what the sandbox needs to read a request.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { broken, fieldSet, firstFault, unknownField } from '../text/strict.ts'

const known = fieldSet(`
  model input background client_metadata context_management conversation include instructions
  max_output_tokens max_tool_calls metadata moderation parallel_tool_calls previous_response_id prompt
  prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier
  store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user
`)
const toolName = /^[a-zA-Z0-9_-]{1,64}$/
const minOutputTokens = 16
const maxIdLength = 64

export const strictFault = (fields: Json): Fault | undefined =>
  firstFault(fields, [checkFields, checkTools, checkItems])

function checkFields(fields: Json): Fault | undefined {
  const name = unknownField(fields, known)
  if (name !== undefined) return broken(name, `Unknown parameter: '${name}'.`)
  const { max_output_tokens: limit } = fields
  if (typeof limit !== 'number' || limit >= minOutputTokens) return undefined
  const text = `Expected a value >= ${minOutputTokens}, but got ${limit} instead.`
  return broken(
    'max_output_tokens',
    `Invalid 'max_output_tokens': integer below minimum value. ${text}`,
  )
}

function checkTools({ tools }: Json): Fault | undefined {
  for (const [at, one] of asList(tools).entries()) {
    const { type, name, function: nested } = asObject(one)
    const param = `tools[${at}].name`
    if (nested !== undefined)
      return broken(`tools[${at}]`, `Unknown parameter: 'tools[${at}].function'.`)
    if ((type === 'function' || type === 'custom') && !toolName.test(asText(name))) {
      return broken(
        param,
        `Invalid '${param}': expected a string that matches '${toolName.source}'.`,
      )
    }
  }
  return undefined
}

const isCall = (type: unknown) => type === 'function_call' || type === 'custom_tool_call'
const isOutput = (type: unknown) => /^(?:function|custom_tool)_call_output$/.test(asText(type))

/** Calls and their outputs belong together; system messages are those of developers here. */
function checkItems({ input, previous_response_id: previous }: Json): Fault | undefined {
  const items = asList(input).map(asObject)
  const idsOf = (is: (type: unknown) => boolean) =>
    new Set(items.filter(({ type }) => is(type)).map(({ call_id: id }) => asText(id)))
  const [calls, outputs] = [idsOf(isCall), idsOf(isOutput)]
  for (const [at, { type, call_id: id, role, content }] of items.entries()) {
    const param = `input[${at}]`
    if (isCall(type) && !outputs.has(asText(id))) {
      return broken('input', `No tool output found for function call ${id}.`)
    }
    if (isOutput(type) && !calls.has(asText(id)) && previous == null) {
      return broken('input', `No tool call found for function call output with call_id ${id}.`)
    }
    if (asText(id).length > maxIdLength) {
      return broken(`${param}.call_id`, `Invalid '${param}.call_id': string too long.`)
    }
    const own = role === 'assistant' ? /^(?:output_text|refusal)$/ : /^input_/
    const odd = asList(content).find(
      (part) => type !== 'reasoning' && !own.test(asText(asObject(part)['type'])),
    )
    if (odd !== undefined) {
      const given = asText(asObject(odd)['type'])
      return broken(`${param}.content[0]`, `Invalid value: '${given}'.`)
    }
  }
  return undefined
}

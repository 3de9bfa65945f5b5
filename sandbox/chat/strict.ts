// What an upstream of the chat style refuses besides what the sandbox needs to read a request.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { broken, fieldSet, firstFault, unknownField } from '../text/strict.ts'

const known = fieldSet(`
  model messages audio enable_thinking frequency_penalty function_call functions logit_bias logprobs
  max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction
  presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature
  thinking_budget tool_choice tools top_k top_logprobs top_p user verbosity web_search_options
`)
const toolName = /^[a-zA-Z0-9_-]{1,64}$/

export const strictFault = (fields: Json): Fault | undefined =>
  firstFault(fields, [checkFields, checkTools, checkCalls])

function checkFields(fields: Json): Fault | undefined {
  const name = unknownField(fields, known)
  return (name && broken(name, `Unrecognized request argument supplied: ${name}`)) || undefined
}

function checkTools({ tools }: Json): Fault | undefined {
  for (const [at, tool] of asList(tools).entries()) {
    const { function: called, custom } = asObject(tool)
    const { name } = asObject(called ?? custom)
    const param = `tools[${at}].function.name`
    if (!toolName.test(asText(name))) {
      return broken(
        param,
        `Invalid '${param}': expected a string that matches '${toolName.source}'.`,
      )
    }
  }
  return undefined
}

/** Each call is answered before anything else is said, and nothing else is answered. */
function checkCalls({ messages }: Json): Fault | undefined {
  const open = new Set<string>()
  for (const [at, one] of asList(messages).entries()) {
    const { role, tool_call_id: answered, tool_calls: calls } = asObject(one)
    const param = `messages[${at}]`
    if (role === 'tool' && !open.delete(asText(answered))) {
      const text =
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
      return broken(`${param}.role`, `Invalid parameter: ${text}`)
    }
    if (role !== 'tool' && open.size > 0) return unanswered(param, open)
    for (const call of asList(calls).map(asObject)) {
      const { arguments: given, name } = asObject(call['function'] ?? call['custom'])
      if (call['function'] && typeof given !== 'string') {
        return broken(`${param}.tool_calls`, `Invalid type for '${param}.tool_calls': arguments.`)
      }
      if (!toolName.test(asText(name))) return broken(`${param}.tool_calls`, 'Invalid tool name.')
      open.add(asText(call['id']))
    }
  }
  return open.size > 0 ? unanswered('messages', open) : undefined
}

const unanswered = (param: string, open: ReadonlySet<string>): Fault =>
  broken(
    param,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
  )

// What an upstream of the messages style refuses besides what the sandbox needs to read a request.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { broken, fieldSet, firstFault, unknownField } from '../text/strict.ts'

const known = fieldSet(`
  model messages max_tokens cache_control container context_management inference_geo mcp_servers
  metadata output_config output_format service_tier speed stop_sequences stream system temperature
  thinking tool_choice tools top_k top_p
`)
const toolName = /^[a-zA-Z0-9_-]{1,128}$/
const callId = /^[a-zA-Z0-9_-]+$/

export const strictFault = (fields: Json): Fault | undefined =>
  firstFault(fields, [checkFields, checkTools, checkBlocks, checkCalls])

const blocksOf = (content: unknown): Json[] => asList(content).map(asObject)

function checkFields(fields: Json): Fault | undefined {
  const name = unknownField(fields, known)
  if (name !== undefined) return broken(name, `${name}: Extra inputs are not permitted`)
  const { temperature } = fields
  return typeof temperature === 'number' && temperature > 1
    ? broken('temperature', 'temperature: range: 0..1')
    : undefined
}

function checkTools({ tools }: Json): Fault | undefined {
  const wrong = asList(tools).findIndex((tool) => !toolName.test(asText(asObject(tool)['name'])))
  const param = `tools.${wrong}.custom.name`
  return wrong === -1
    ? undefined
    : broken(param, `${param}: String should match pattern '${toolName.source}'`)
}

function checkBlocks({ messages, system }: Json): Fault | undefined {
  const contents = [system, ...asList(messages).map((one) => asObject(one)['content'])]
  if (asObject(asList(messages)[0])['role'] !== 'user') {
    return broken('messages', 'messages: first message must use the "user" role')
  }
  for (const [at, content] of contents.entries()) {
    const param = at === 0 ? 'system' : `messages.${at - 1}`
    if (content === '') return broken(param, `${param}: all messages must have non-empty content`)
    for (const { type, text, input, id } of blocksOf(content)) {
      if (type === 'text' && asText(text).trim() === '') {
        return broken(param, `${param}: text content blocks must be non-empty`)
      }
      const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
      if (type === 'tool_use' && !(isObject && callId.test(asText(id)))) {
        return broken(param, `${param}: tool_use: Input should be a valid dictionary`)
      }
    }
  }
  return undefined
}

/** The results of a message's calls are at the start of the next message, and nowhere else. */
function checkCalls({ messages }: Json): Fault | undefined {
  let open = new Set<string>()
  for (const [at, one] of [...asList(messages), {}].entries()) {
    const blocks = blocksOf(asObject(one)['content'])
    const results = blocks.filter(({ type }) => type === 'tool_result')
    for (const { tool_use_id: id } of results) {
      if (open.delete(asText(id))) continue
      const text = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`
      return broken(`messages.${at}`, `messages.${at}.content: ${text}`)
    }
    if (open.size > 0) {
      const text = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...open].join(', ')}`
      return broken(`messages.${at - 1}`, `messages.${at - 1}: ${text}`)
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    open = new Set(calls.map(({ id }) => asText(id)))
  }
  return undefined
}

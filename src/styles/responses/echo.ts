// What a response repeats of the caller's own request, with the defaults of the style.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

/** In the order in which the style lists them. */
const defaults: Json = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

export function echoOf(fields: Json): Json {
  const echo: Record<string, unknown> = {}
  for (const name of Object.keys(defaults)) echo[name] = fields[name] ?? defaults[name]
  // Which tier serves the call is known at its end only, and nothing is kept.
  echo['service_tier'] = 'default'
  echo['store'] = false
  const { reasoning, text } = fields
  return {
    ...echo,
    reasoning: { effort: null, summary: null, ...(isObject(reasoning) ? reasoning : {}) },
    text: { format: { type: 'text' }, ...(isObject(text) ? withoutNulls(text) : {}) },
  }
}

/** What another style calls fast is priority here. */
export const tierWord = (tier: string): string => (tier === 'fast' ? 'priority' : tier)

const withoutNulls = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

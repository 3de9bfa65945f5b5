// Reads a responses request. Whatever refers to something kept upstream is refused: an upstream of
// another style does not have it.
import type { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import { flagIn, objectIn, textIn, textsIn } from '../../lib/json/values.ts'
import type { Conversation, Json, OutputFormat } from '../common/conversation.ts'
import { readEffort } from '../common/effort.ts'
import type { Losses } from '../common/losses.ts'
import { withoutNeutral } from '../common/neutral.ts'
import { present, RequestReading } from '../common/request-reading.ts'
import { readTier } from '../common/service-tier.ts'
import type { GivenRequest } from '../common/style.ts'
import {
  fieldNames,
  ignoredFields,
  loseUnknown,
  neutralFields,
  readFields,
  stateFields,
} from './field-names.ts'
import { ItemReader } from './read-items.ts'
import { readToolChoice, readTools } from './read-tools.ts'

const conditional = ['store', 'truncation', 'background', 'service_tier', 'context_management']
export const knownFields: ReadonlySet<string> = new Set([
  ...readFields,
  ...ignoredFields,
  ...stateFields,
  ...conditional,
])

export function readRequest(given: GivenRequest, losses: Losses): Conversation | Refusal {
  const reading = new RequestReading(losses, given.envelopes)
  const fields = withoutNeutral(given.fields, neutralFields)
  losses.addUnknown(fields, knownFields)
  readState(fields, reading)
  const items = new ItemReader(reading)
  items.instructions(fields['instructions'])
  items.read(fields['input'])
  const lists = [{ list: fields['tools'], path: 'tools' }, ...items.tools]
  const conversation: Conversation = {
    fieldNames,
    system: items.system,
    turns: items.turns,
    tools: readTools(lists, reading),
    stop: [],
    choices: 1,
    sampling: readSampling(fields, reading),
    format: readFormat(fields, reading),
    ...present({
      toolChoice: readToolChoice(fields['tool_choice'], reading),
      parallelCalls: reading.boolean(fields, 'parallel_tool_calls'),
      maxOutputTokens: reading.number(fields, 'max_output_tokens'),
      verbosity: textIn(objectIn(fields, 'text') ?? {}, 'verbosity'),
      cacheKey: textIn(fields, 'prompt_cache_key'),
      endUser: textIn(fields, 'safety_identifier') ?? textIn(fields, 'user'),
      tier: readTier(fields['service_tier'], 'service_tier'),
      ...readReasoning(fields, reading),
      ...readIncluded(fields, reading),
    }),
  }
  const { system, turns } = conversation
  if (turns.length + system.length === 0) reading.wrong('input', 'a text or a list of items')
  return reading.problem ?? conversation
}

function readState(fields: Json, reading: RequestReading): void {
  for (const name of stateFields) {
    if (fields[name] != null) reading.refuse(name, 'what is kept upstream cannot be used')
  }
  if (fields['truncation'] === 'auto') reading.refuse('truncation', 'no input is left out')
  if (fields['store'] === true) reading.losses.add('store')
  if (fields['context_management'] != null) reading.losses.add('context_management')
}

const readSampling = (fields: Json, reading: RequestReading): Conversation['sampling'] =>
  present({
    temperature: reading.number(fields, 'temperature'),
    topP: reading.number(fields, 'top_p'),
    presencePenalty: reading.number(fields, 'presence_penalty'),
    frequencyPenalty: reading.number(fields, 'frequency_penalty'),
  })

function readFormat(fields: Json, reading: RequestReading): OutputFormat {
  const text = objectIn(fields, 'text') ?? {}
  const format = objectIn(text, 'format')
  loseUnknown(text, 'text.settings', reading.losses)
  if (format !== undefined) loseUnknown(format, 'text.format', reading.losses)
  const type = format?.['type'] ?? 'text'
  if (format === undefined || type === 'text') return { kind: 'text' }
  if (type === 'json_object') return { kind: 'json' }
  const schema = format['schema']
  if (type === 'json_schema' && isObject(schema)) {
    const name = textIn(format, 'name')
    const description = textIn(format, 'description')
    const strict = flagIn(format, 'strict')
    return { kind: 'schema', schema, ...present({ name, description, strict }) }
  }
  reading.wrong('text.format', 'text, json_object or json_schema with a schema')
  return { kind: 'text' }
}

function readReasoning(
  fields: Json,
  reading: RequestReading,
): Pick<Conversation, 'effort' | 'showReasoning'> {
  const reasoning = reading.object(fields, 'reasoning')
  if (reasoning === undefined) return {}
  loseUnknown(reasoning, 'reasoning.settings', reading.losses)
  const read = readEffort(reasoning['effort'])
  if (read?.changed) reading.losses.add(fieldNames.effort)
  const summary = reasoning['summary'] ?? reasoning['generate_summary']
  return present({ effort: read?.effort, showReasoning: summary == null ? undefined : true })
}

const sealed = 'reasoning.encrypted_content'
const logprobs = 'message.output_text.logprobs'
/** What they would show is never part of a translated answer. */
const ofServerTools =
  /^(?:file_search|web_search|code_interpreter|computer)_call|^message\.input_image/

function readIncluded(
  fields: Json,
  reading: RequestReading,
): Pick<Conversation, 'wantsSeals' | 'logprobs'> {
  const included = textsIn(fields, 'include')
  const other = included.some(
    (each) => each !== sealed && each !== logprobs && !ofServerTools.test(each),
  )
  if (other) reading.losses.add('include')
  const wanted = reading.number(fields, 'top_logprobs')
  return present({
    wantsSeals: included.includes(sealed) || undefined,
    logprobs: wanted || (included.includes(logprobs) ? 0 : undefined),
  })
}

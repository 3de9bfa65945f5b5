// The responses style: items in, items out, typed events in streams.

import type { Json } from '../common/conversation.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'
import { onlyFields } from '../common/request-reading.ts'
import type { Style } from '../common/style.ts'
import { fieldNames, lackedSettings, minOutputTokens } from './field-names.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { ResponsesReader } from './read-stream.ts'
import { writeRequest } from './write-request.ts'
import { ResponsesWriter } from './write-stream.ts'

const counted = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text']

export const responses: Style = {
  name: 'responses',
  readRequest,
  stripSeals,
  sealField: fieldNames.reasoning,
  writeRequest,
  lacks: { settings: lackedSettings, minOutputTokens },
  readAnswer,
  newReader: (context) => new ResponsesReader(context),
  writeAnswer(events, context) {
    const writer = new ResponsesWriter(context, true)
    for (const event of events) writer.write(event)
    return writer.response()
  },
  newWriter: (context) => new ResponsesWriter(context),
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  count: { bodyOf: (request) => onlyFields(request, counted) },
}

/** Without items of reasoning that other upstreams have sealed: they are of no use without the seal. */
function stripSeals(request: Json, isForeign: IsForeign): Json {
  const stripped = mapObjects(request, 'input', (item) =>
    item['type'] === 'reasoning' && isForeign(item['encrypted_content']) ? undefined : item,
  )
  return stripped === request ? request : mapObjects(stripped, 'input', withoutId)
}

/** By its id, an upstream knows that an item was made with the reasoning that is missing now. */
function withoutId(item: Json): Json {
  if (!madeItems.has(item['type']) || item['id'] === undefined) return item
  const { id: _, ...rest } = item
  return rest
}

const madeItems: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call'])

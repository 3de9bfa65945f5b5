// The messages style.
import { onlyFields } from '../common/request-reading.ts'
import type { Style } from '../common/style.ts'
import { fieldNames, lackedSettings, maxTemperature } from './fields.ts'
import { readRequest } from './read-request.ts'
import { MessagesReader } from './read-stream.ts'
import { stripSeals } from './strip-seals.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { MessagesWriter } from './write-stream.ts'

const counted = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking']

export const messages: Style = {
  name: 'messages',
  readRequest,
  stripSeals,
  sealField: fieldNames.reasoning,
  writeRequest,
  lacks: { settings: lackedSettings, maxTemperature },
  readAnswer: (answer, context, emit) => new MessagesReader(context).answer(answer, emit),
  newReader: (context) => new MessagesReader(context),
  writeAnswer,
  newWriter: (context) => new MessagesWriter(context),
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  count: { bodyOf: (request) => onlyFields(request, counted) },
}

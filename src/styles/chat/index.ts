// The chat-completions style.
import type { Style } from '../common/style.ts'
import { fieldNames, lackedSettings } from './fields.ts'
import { readRequest } from './read-request.ts'
import { ChatReader } from './read-stream.ts'
import { stripSeals } from './strip-seals.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { ChatWriter } from './write-stream.ts'

export const chat: Style = {
  name: 'chat',
  readRequest,
  stripSeals,
  sealField: fieldNames.reasoning,
  writeRequest,
  lacks: { settings: lackedSettings },
  readAnswer: (answer, context, emit) => new ChatReader(context).answer(answer, emit),
  newReader: (context) => new ChatReader(context),
  writeAnswer,
  newWriter: (context) => new ChatWriter(context),
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
}

// The generate style: contents and parts in, candidates out, partial answers in streams.
import { objectIn } from '../../lib/json/values.ts'
import type { Style } from '../common/style.ts'
import { camelCased, fieldNames } from './field-names.ts'
import { readRequest } from './read-request.ts'
import { GenerateReader } from './read-stream.ts'
import { stripSeals } from './wire.ts'
import { writeRequest } from './write-request.ts'
import { GenerateWriter, writeAnswer } from './write-stream.ts'

export const generate: Style = {
  name: 'generate',
  readRequest,
  stripSeals,
  sealField: fieldNames.reasoning,
  writeRequest,
  lacks: { settings: [] },
  readAnswer(answer, context, emit) {
    const reader = new GenerateReader(context)
    reader.read(answer, undefined, emit)
    reader.end(emit)
  },
  newReader: (context) => new GenerateReader(context),
  writeAnswer,
  newWriter: (context) => new GenerateWriter(context),
  toolName: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  count: {
    requestIn: (fields) => objectIn(camelCased(fields), 'generateContentRequest') ?? fields,
    // Only there it may have instructions and tools.
    bodyOf: (request, model) => ({
      generateContentRequest: { model: `models/${model}`, ...request },
    }),
  },
}

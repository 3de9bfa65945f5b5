// The Converse style: one that only upstreams speak.
import type { UpstreamStyle } from '../common/style.ts'
import { ConverseReader } from './read-stream.ts'
import { lackedSettings, maxTemperature, writeRequest } from './write-request.ts'

export const converse: UpstreamStyle = {
  name: 'converse',
  writeRequest,
  lacks: { settings: lackedSettings, maxTemperature },
  readAnswer: (answer, context, emit) => new ConverseReader(context).answer(answer, emit),
  newReader: (context) => new ConverseReader(context),
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
}

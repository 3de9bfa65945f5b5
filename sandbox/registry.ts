// Every protocol the sandbox speaks: one line each. The first one's error format is used for
// unknown paths.
import { arkvendor } from './arkvendor/index.ts'
import { chat } from './chat/index.ts'
import { embeddings } from './embeddings/index.ts'
import { generate } from './generate/index.ts'
import { images } from './images/index.ts'
import { imgvendor } from './imgvendor/index.ts'
import { messages } from './messages/index.ts'
import { moderations } from './moderations/index.ts'
import type { ProtocolMaker } from './protocol.ts'
import { rerank } from './rerank/index.ts'
import { responses } from './responses/index.ts'
import { speech } from './speech/index.ts'
import { transcriptions } from './transcriptions/index.ts'
import { vendorg } from './vendorg/index.ts'
import { vf } from './vf/index.ts'

export const registry: readonly [ProtocolMaker, ...ProtocolMaker[]] = [
  chat,
  responses,
  messages,
  generate,
  embeddings,
  rerank,
  moderations,
  speech,
  transcriptions,
  vf,
  vendorg,
  arkvendor,
  images,
  imgvendor,
]

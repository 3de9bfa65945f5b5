// Every surface, one line each.
import { chat } from './chat/index.ts'
import { embeddings } from './embeddings/index.ts'
import { messages } from './messages/index.ts'
import { models } from './models/index.ts'
import { responses } from './responses/index.ts'
import type { Surface } from './surface.ts'

export const surfaces: readonly Surface[] = [chat, responses, messages, embeddings, models]

// Every provider, one line each.
import type { Protocol } from '../contract/catalog.ts'
import type { Provider } from '../contract/provider.ts'
import { chat } from './chat/index.ts'
import { embeddings } from './embeddings/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

export const providers: ReadonlyMap<Protocol, Provider> = new Map(
  [chat, responses, messages, embeddings].map((provider) => [provider.protocol, provider]),
)

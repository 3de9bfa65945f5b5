// Every provider, one line each.
import type { Protocol } from '../contract/catalog.ts'
import type { Provider } from '../contract/provider.ts'
import { chat } from './chat/index.ts'

export const providers: ReadonlyMap<Protocol, Provider> = new Map(
  [chat].map((provider) => [provider.protocol, provider]),
)

// Every protocol the sandbox speaks: one line each. The first one lends its error shape to paths
// nobody serves.
import { chat } from './chat/index.ts'
import type { ProtocolMaker } from './protocol.ts'

export const registry: readonly [ProtocolMaker, ...ProtocolMaker[]] = [chat]

// Long-running video operations: one create, then questions by the operation's name. This upstream
// lists nothing and cancels nothing.
import type { Provider } from '../../contract/provider.ts'
import { checkOperation } from './check-operation.ts'
import { startOperation } from './start-operation.ts'

export const vendorg: Provider = {
  protocol: 'vendorg',
  video: { start: startOperation, check: checkOperation },
}

// Upstreams that speak the chat-completions style.
import type { Provider } from '../../contract/provider.ts'
import { send } from './send.ts'

export const chat: Provider = {
  protocol: 'chat',
  text: {
    send,
    errorEvent: (errorBody) => Buffer.from(`data: ${errorBody}\n\n`),
  },
}

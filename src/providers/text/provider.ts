// A text style as a provider.
import type { Provider } from '../../contract/provider.ts'
import { listPlainModels } from '../common/list-models.ts'
import type { TextStyle } from './style.ts'
import { senderFor } from './translate.ts'

export const textProvider = (style: TextStyle): Provider => ({
  protocol: style.protocol,
  path: style.path,
  listModels: listPlainModels,
  text: {
    ...(style.ids !== undefined && { handsOutIds: true as const }),
    send: senderFor(style),
  },
})

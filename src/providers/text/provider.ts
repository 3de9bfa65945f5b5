// A text style as a provider.
import type { Provider, TextProvider } from '../../contract/provider.ts'
import { listPlainModels } from '../common/list-models.ts'
import { senderFor } from './sender.ts'
import type { TextStyle } from './style.ts'

export const textProvider = (
  style: TextStyle,
  countTokens?: TextProvider['countTokens'],
): Provider => ({
  protocol: style.protocol,
  path: style.path,
  listModels: listPlainModels,
  text: {
    ...(style.ids !== undefined && { handsOutIds: true as const }),
    send: senderFor(style),
    ...(countTokens !== undefined && { countTokens }),
  },
})

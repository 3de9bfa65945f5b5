// The styles of text by their names.
import type { StyleName } from '../conversation.ts'
import { chat } from './chat.ts'
import { generate } from './generate.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Style } from './style.ts'

export const styles: Readonly<Record<StyleName, Style>> = { chat, responses, messages, generate }

export const isStyle = (name: string): name is StyleName => Object.hasOwn(styles, name)

// The registry of text styles. Any of them translates into any other through the conversation.
import { chat } from './chat/index.ts'
import type { StyleName, UpstreamStyleName } from './common/conversation.ts'
import type { EmbeddingStyle, Style, UpstreamStyle } from './common/style.ts'
import { converse } from './converse/index.ts'
import { embeddings } from './embeddings/index.ts'
import { generateEmbeddings } from './generate/embed.ts'
import { generate } from './generate/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

export const styles: Readonly<Record<StyleName, Style>> = { chat, responses, messages, generate }

export const isStyle = (name: string): name is StyleName => Object.hasOwn(styles, name)

/** Those that upstreams speak. */
export const upstreamStyles: Readonly<Record<UpstreamStyleName, UpstreamStyle>> = {
  ...styles,
  converse,
}

export const isUpstreamStyle = (name: string): name is UpstreamStyleName =>
  Object.hasOwn(upstreamStyles, name)

/** Styles that embeddings can be asked for in. */
export const embeddingStyles = {
  embeddings,
  generate: generateEmbeddings,
} as const satisfies Readonly<Record<string, EmbeddingStyle>>

export const isEmbeddingStyle = (name: string): name is keyof typeof embeddingStyles =>
  Object.hasOwn(embeddingStyles, name)

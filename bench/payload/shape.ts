// What every style of call must bring to the bench, and the token counts all of them report.
// Refuses to know sockets, processes and prices.

export const styles = ['chat', 'responses', 'messages', 'generate', 'embeddings'] as const
export type Style = (typeof styles)[number]

/** Styles that the gateway translates into each other. */
export const textStyles = ['chat', 'responses', 'messages', 'generate'] as const
export type TextStyle = (typeof textStyles)[number]

export const modes = ['json', 'stream'] as const
export type Mode = (typeof modes)[number]

interface StreamPayload {
  /** One text per event; the last item is the end and may hold several. */
  events(model: string, asksUsage?: boolean): string[]
  /** Stands once in every delta, and nowhere else in a stream. */
  deltaMark: string
  /** Stands in the last 32 bytes of a stream that is whole. */
  endMark: string
  /** The same where the gateway has written the stream itself; absent: no difference. */
  translatedEndMark?: string
}

export interface Payload {
  /** Where callers send it. */
  pathOf(mode: Mode, model: string): string
  model: string
  /** What callers of this style send besides credentials. */
  headers: Readonly<Record<string, string>>
  requestBody(mode: Mode, model?: string): string
  jsonAnswer(model: string): string
  /** Stands in every JSON answer that is whole. */
  usageMark: string
  stream?: StreamPayload
}

export const deltaCount = 100
/** How every word begins. */
export const wordStart = ' w'
const vocabulary = 'ord hen ater e hich as ide ith orld anted ill ork ay ere ood ithout'.split(' ')
/** A word for each event, so that no two events in a row are the same. */
export const words: readonly string[] = Array.from(
  { length: deltaCount },
  (_, i) => wordStart + vocabulary[i % vocabulary.length]!,
)
export const createdAt = 1_760_000_000
export const prompt = 'please tell me something nice '.repeat(16)
export const reply = 'a short answer made of some plain words. '.repeat(8)
export const inputTokens = 120
export const outputTokens: Readonly<Record<Mode, number>> = { json: 64, stream: deltaCount }

/**
 * All tokens of one answer, whatever its style. With one price for every kind of token this alone
 * is the charge.
 */
export const tokensPerCall = (mode: Mode): number => inputTokens + outputTokens[mode]

/** An event of a style that names its events by their type. */
export const namedEvent = (fields: { type: string } & Record<string, unknown>): string =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`

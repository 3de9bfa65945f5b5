// Requests of other sizes than the usual one: longer texts, a long history, an image in Base64. Chat only.
// Refuses to know sockets.

import { chat } from './chat.ts'
import { type Mode, prompt, type Style } from './shape.ts'

export type BodySize = 'usual' | '1kb' | '50kb' | '2mb' | 'image'

/** A request of chat that differs from the usual one. */
export interface Asked {
  style: Style
  mode: Mode
  model: string
  body: BodySize
  asksUsage: boolean
}

type Turn = { role: string; content: string | object[] }

/** In the request, where quotes and line ends are escaped. */
const turnBytes = 2160

/** Turns of user and assistant in turn; the user has the last word. */
function history(bytes: number): Turn[] {
  const content = 'and then the tool said that all of it was "fine".\n'.repeat(40)
  return Array.from({ length: 2 * Math.round(bytes / turnBytes / 2) + 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
}

/** Bytes that do not repeat, so that nothing in between can be clever about them. */
function image(bytes: number): Turn[] {
  const values = Uint8Array.from({ length: (bytes * 3) / 4 }, (_, i) => (i * i * 31 + i * 7) >> 3)
  const url = `data:image/png;base64,${Buffer.from(values).toString('base64')}`
  const text = { type: 'text', text: prompt }
  return [{ role: 'user', content: [text, { type: 'image_url', image_url: { url } }] }]
}

const turnsBySize: Record<Exclude<BodySize, 'usual'>, () => Turn[]> = {
  '1kb': () => [{ role: 'user', content: prompt.repeat(2) }],
  '50kb': () => history(50_000),
  '2mb': () => history(2_000_000),
  image: () => image(2_000_000),
}

/** The body of a chat request; the model is named first, as SDKs do. */
export function chatBody({ mode, model, body, asksUsage }: Omit<Asked, 'style'>): string {
  const usual = JSON.parse(chat.requestBody(mode, model)) as Record<string, unknown>
  if (!asksUsage) delete usual['stream_options']
  if (body !== 'usual') usual['messages'] = turnsBySize[body]()
  return JSON.stringify(usual)
}

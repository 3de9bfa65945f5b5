// Files inside of a URL: `data:image/png;base64,…`. Base64 passes as it is.
import type { MediaPart } from './conversation.ts'

const head = /^data:([^;,]*)((?:;[^;,]*)*),/i

/** Undefined for any other URL. A text without base64 is turned into it. */
export function readDataUrl(url: string): { mimeType: string; data: string } | undefined {
  const [start, type, options] = head.exec(url.slice(0, maxHead)) ?? []
  if (start === undefined) return undefined
  const rest = url.slice(start.length)
  const data = /;base64$/i.test(options ?? '') ? rest : encoded(rest)
  return { mimeType: type?.toLowerCase() || 'text/plain', data }
}

/** The part before the data is short; a search does not run through megabytes. */
const maxHead = 512

function encoded(text: string): string {
  try {
    return Buffer.from(decodeURIComponent(text)).toString('base64')
  } catch {
    return Buffer.from(text).toString('base64')
  }
}

/** A URL, or the file itself where the URL holds it. */
export const mediaSource = (url: string): Pick<MediaPart, 'mimeType' | 'data' | 'url'> =>
  readDataUrl(url) ?? { url }

/** The URL of a part, whichever way its file is given; a text document as base64. */
export function dataUrlOf({ mimeType, data, url, text }: MediaPart): string {
  if (url !== undefined) return url
  const base64 = data ?? Buffer.from(text ?? '').toString('base64')
  const type = mimeType ?? (data === undefined ? 'text/plain' : 'application/octet-stream')
  return `data:${type};base64,${base64}`
}

const typesByEnding: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
}

/** A text document for upstreams that take none: its name, and what is in it. */
export const documentText = ({ name, text = '' }: MediaPart): string =>
  name === undefined ? text : `${name}\n\n${text}`

/** Of a document, for upstreams that want a name: they tell its type by the ending. */
export function fileNameOf({ name, mimeType }: MediaPart): string {
  if (name !== undefined) return name
  const [ending] = Object.entries(typesByEnding).find(([, type]) => type === mimeType) ?? ['pdf']
  return `document.${ending}`
}

/** By the ending of a file's name or URL. */
export function mimeTypeOfName(name: string): string | undefined {
  const [, ending] = /\.([a-z0-9]{1,5})(?:[?#]|$)/i.exec(name) ?? []
  return ending === undefined ? undefined : typesByEnding[ending.toLowerCase()]
}

/** What a file of that type is to a model. */
export function mediaKindOf(mimeType: string): MediaPart['type'] {
  const [kind] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

// Bodies of up to the largest size, each of a shape that is some reader's worst. Refuses to know what
// becomes of them.

export interface StallBody {
  path: string
  type: string
  body: string
}

const chat = '/v1/chat/completions'
const json = 'application/json'
const ask = '"model":"bench-chat","max_tokens":5'
const hello = `${ask},"messages":[{"role":"user","content":"hi"}]`

const filled = (piece: string, bytes: number): string =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))))

function numbered(bytes: number, piece: (index: number) => string): string {
  const pieces: string[] = []
  let size = 0
  while (size < bytes) {
    const next = piece(pieces.length)
    pieces.push(next)
    size += next.length + 1
  }
  return pieces.join(',')
}

const said = (content: string): StallBody => ({
  path: chat,
  type: json,
  body: `{${ask},"messages":[{"role":"user","content":${content}}]}`,
})

const beside = (field: string): StallBody => ({
  path: chat,
  type: json,
  body: `{${hello},${field}}`,
})

const form = (parts: string): StallBody => ({
  path: '/v1/videos',
  type: 'multipart/form-data; boundary=bench',
  body: `${parts}--bench--\r\n`,
})

const part = (name: string, value: string): string =>
  `--bench\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const base64 = (bytes: number): string => filled('iVBORw0K', bytes)
/** More is refused as too large a picture. */
const pictureBytes = 26 * 1024 * 1024

export const stallBodies: Readonly<Record<string, (bytes: number) => StallBody>> = {
  'one long text': (bytes) => said(`"${filled('abcdefgh', bytes)}"`),
  'text in Chinese': (bytes) => said(`"${filled('你好世界', bytes)}"`),
  'a stream of a long text': (bytes) => {
    const { body, ...rest } = said(`"${filled('abcdefgh', bytes)}"`)
    return { ...rest, body: body.replace('{', '{"stream":true,') }
  },
  'a picture': (bytes) =>
    said(
      `[{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64(bytes - 100)}"}}]`,
    ),
  'lines of code': (bytes) =>
    said(`"${filled('a line of code, of forty letters or so\\n', bytes)}"`),
  'escaped quotes': (bytes) => said(`"${filled('\\"', bytes)}"`),
  backslashes: (bytes) => said(`"${filled('\\\\', bytes)}"`),
  'escaped letters': (bytes) => said(`"${filled('\\u4f60', bytes)}"`),
  'empty objects': (bytes) => beside(`"x":[${filled('{},', bytes)}0]`),
  'empty lists': (bytes) => beside(`"x":[${filled('[],', bytes)}0]`),
  '"prototype" and objects': (bytes) => beside(`"x":["prototype",${filled('{},', bytes)}0]`),
  'many keys': (bytes) => beside(numbered(bytes, (i) => `"k${i}":1`)),
  'objects of new keys': (bytes) => beside(`"x":[${numbered(bytes, (i) => `{"k${i}":1}`)}]`),
  'new words': (bytes) => beside(`"x":[${numbered(bytes, (i) => `"s${i}"`)}]`),
  numbers: (bytes) => beside(`"x":[${filled('1,', bytes)}0]`),
  'one number': (bytes) => beside(`"x":${filled('1', bytes)}`),
  'white space': (bytes) => beside(`"x":${filled(' ', bytes)}1`),
  'deep lists': (bytes) => beside(`"x":${filled('[', bytes)}`),
  tools: (bytes) => beside(`"tools":[${filled('{},', bytes)}{}]`),
  messages: (bytes) => ({
    path: chat,
    type: json,
    body: `{${ask},"messages":[${filled('{"role":"user","content":"hi"},', bytes)}{"role":"user"}]}`,
  }),
  'tokens as numbers': (bytes) => ({
    path: '/v1/embeddings',
    type: json,
    body: `{"model":"bench-embed","input":[${filled('1234,', bytes)}1]}`,
  }),
  'not JSON': (bytes) => ({ path: chat, type: json, body: filled('x', bytes) }),
  'a picture of a video': (bytes) => ({
    path: '/v1/videos',
    type: json,
    body: `{"model":"vfb-1.1-i2v","prompt":"a","input_reference":"data:image/png;base64,${base64(Math.min(bytes, pictureBytes))}"}`,
  }),
  'a form of many parts': (bytes) => form(filled(part('a', '1'), bytes)),
  'a form with a long field': (bytes) =>
    form(part('model', 'vfb-1.1-t2v') + part('prompt', filled('a', bytes))),
  'a sign-in': (bytes) => ({
    path: '/admin/v1/session',
    type: json,
    body: `{"name":"x","password":"y","prototype":1,"a":[${filled('{},', bytes)}0]}`,
  }),
}

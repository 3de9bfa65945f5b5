// Bodies of up to the largest size, each of a shape that is the worst case of some parser. Refuses to know
// how they are answered.

export interface StallBody {
  path: string
  type: string
  body: string
  /** The last letter of its text is sent as a byte that is no UTF-8. */
  isBroken?: true
}

const chat = '/v1/chat/completions'
const json = 'application/json'
const model = '"model":"bench-chat","max_tokens":5'
const hello = `${model},"messages":[{"role":"user","content":"hi"}]`

const filled = (piece: string, bytes: number): string =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))))

function numbered(bytes: number, piece: (index: number) => string): string {
  const built: string[] = []
  let size = 0
  while (size < bytes) {
    const next = piece(built.length)
    built.push(next)
    size += next.length + 1
  }
  return built.join(',')
}

const said = (content: string, name = 'bench-chat'): StallBody => ({
  path: chat,
  type: json,
  body: `{"model":"${name}","max_tokens":5,"messages":[{"role":"user","content":${content}}]}`,
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
/** A larger image is refused. */
const imageBytes = 26 * 1024 * 1024
/** How much of a request is searched for the words of an error. */
const keptBytes = 4 * 1024 * 1024

const post = (path: string, body: string): StallBody => ({ path, type: json, body })

const native = (content: string): StallBody =>
  post('/arkvendor/api/v3/contents/generations/tasks', `{"model":"vidmodel-1-5-pro",${content}}`)

const streamed = ({ body, ...rest }: StallBody): StallBody => ({
  ...rest,
  body: body.replace('{', '{"stream":true,'),
})
const renamed = ({ body, ...rest }: StallBody): StallBody => ({
  ...rest,
  body: body.replace('bench-chat', 'bench-renamed'),
})

export const stallBodies: Readonly<Record<string, (bytes: number) => StallBody>> = {
  'one long text': (bytes) => said(`"${filled('abcdefgh', bytes)}"`),
  'text in Chinese': (bytes) => said(`"${filled('你好世界', bytes)}"`),
  'a long text with one wide letter': (bytes) => said(`"${filled('abcdefgh', bytes - 200)}你"`),
  'text in French': (bytes) => said(`"${filled('été à Nîmes, ', bytes)}"`),
  'text that is not UTF-8': (bytes) => ({
    ...said(`"${filled('你好世界', bytes)}"`),
    isBroken: true,
  }),
  'a stream of a long text': (bytes) => streamed(said(`"${filled('abcdefgh', bytes)}"`)),
  'a stream under another name': (bytes) =>
    renamed(streamed(said(`"${filled('abcdefgh', bytes)}"`))),
  'a stream in Chinese, another name': (bytes) =>
    renamed(streamed(said(`"${filled('你好世界', bytes)}"`))),
  'lines that are taken': (bytes) =>
    renamed(
      streamed(
        said(
          `"${filled('a line of code, of forty letters or so\\n', Math.floor(bytes / 2))}\\u0041"`,
        ),
      ),
    ),
  'an image': (bytes) =>
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
    body: `{${model},"messages":[${filled('{"role":"user","content":"hi"},', bytes)}{"role":"user"}]}`,
  }),
  'tokens as numbers': (bytes) => ({
    path: '/v1/embeddings',
    type: json,
    body: `{"model":"bench-embed","input":[${filled('1234,', bytes)}1]}`,
  }),
  'not JSON': (bytes) => ({ path: chat, type: json, body: filled('x', bytes) }),
  'an image of a video': (bytes) => ({
    path: '/v1/videos',
    type: json,
    body: `{"model":"vfb-1.1-i2v","prompt":"a","input_reference":"data:image/png;base64,${base64(Math.min(bytes, imageBytes))}"}`,
  }),
  'an image with line ends': (bytes) =>
    post(
      '/v1/videos',
      `{"model":"vfb-1.1-i2v","prompt":"a","input_reference":"data:image/png;base64,${filled(
        `${base64(76)}\\n`,
        Math.min(bytes, imageBytes),
      )}"}`,
    ),
  'an image to be edited': (bytes) =>
    post(
      '/v1/images/edits',
      `{"model":"imga-edit","prompt":"a","images":[{"image_url":"data:image/png;base64,${base64(Math.min(bytes, imageBytes))}"}]}`,
    ),
  'images of an image task': () => {
    const image = `{"image":"${base64(12 * 1024 * 1024)}"}`
    return post(
      '/imgvendor/v1/images/omni-image',
      `{"model_name":"imgvendor-v3-omni","prompt":"a","image_list":[${image},${image}]}`,
    )
  },
  'a native image': (bytes) =>
    native(
      `"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64(bytes - 200)}"}}]`,
    ),
  'a native image with line ends': (bytes) =>
    native(
      `"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${filled(`${base64(76)}\\n`, bytes - 200)}"}}]`,
    ),
  'a native text of commands': (bytes) =>
    native(`"content":[{"type":"text","text":"${filled('--rs 480p ', bytes - 200)}"}]`),
  'a native text in Chinese': (bytes) =>
    native(`"content":[{"type":"text","text":"${filled('你好世界', bytes - 200)}"}]`),
  'a prompt of commands': (bytes) =>
    post('/v1/videos', `{"model":"vidmodel-1-5-pro","prompt":"${filled('—dur 5 ', bytes - 200)}"}`),
  'an operation with a long prompt': (bytes) =>
    post(
      '/vendorg/v1/models/vendorg-video-1:predictLongRunning',
      `{"instances":[{"prompt":"${filled('你好世界', bytes - 200)}"}]}`,
    ),
  'an image of an operation': (bytes) =>
    post(
      '/vendorg/v1/models/vendorg-video-1:predictLongRunning',
      `{"instances":[{"prompt":"a","image":{"mimeType":"image/png","bytesBase64Encoded":"${base64(Math.min(bytes, imageBytes))}"}}]}`,
    ),
  'a response to a long text': (bytes) =>
    post(
      '/v1/responses',
      `{"model":"txta-plus","max_output_tokens":5,"input":"${filled('abcdefgh', bytes - 200)}"}`,
    ),
  'a message with an image': (bytes) =>
    post(
      '/v1/messages',
      `{"model":"txta-plus","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64(bytes - 400)}"}}]}]}`,
    ),
  'a message with an image with line ends': (bytes) =>
    post(
      '/v1/messages',
      `{"model":"txta-plus","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${filled(`${base64(76)}\\n`, Math.floor(bytes / 2))}"}}]}]}`,
    ),
  'an error full of hosts': () =>
    said(`"${filled('https://h1.svc.internal/a b ', keptBytes)}"`, 'bench-failing'),
  'a form of many parts': (bytes) => form(filled(part('a', '1'), bytes)),
  'a form with a long field': (bytes) =>
    form(part('model', 'vfb-1.1-t2v') + part('prompt', filled('a', bytes - 500))),
  'a form with a long field in Chinese': (bytes) =>
    form(part('model', 'vfb-1.1-t2v') + part('prompt', filled('你好世界', bytes - 500))),
  'a form with a long name': (bytes) => form(part(filled('a', bytes - 500), '1')),
  'a form with a name of brackets': (bytes) =>
    form(part(`a${filled('[]', 16_000)}`, '1') + part('b', filled('a', bytes - 50_000))),
  'a form with near dividers': (bytes) => form(part('prompt', filled('\r\n--benc', bytes - 500))),
  'a form with an image': (bytes) =>
    form(
      part('model', 'vfb-1.1-i2v') +
        part('prompt', 'a') +
        `--bench\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n${filled('\x89PNG', Math.min(bytes, 19 * 1024 * 1024))}\r\n`,
    ),
  'documents to rank': (bytes) =>
    post(
      '/v1/rerank',
      `{"model":"bench-rank","query":"a","return_documents":true,"documents":[${numbered(
        Math.min(bytes - 200, 10_000 * 40),
        (index) => `{"text":"document ${index}","more":[{},1,2,3]}`,
      )}]}`,
    ),
  'texts to judge': (bytes) =>
    post(
      '/v1/moderations',
      `{"model":"bench-judge","input":[${numbered(
        Math.min(bytes - 200, 4_000 * 48),
        (index) => `{"type":"text","text":"text ${index}","more":[{},1,2,3]}`,
      )}]}`,
    ),
  'a sign-in': (bytes) => ({
    path: '/admin/v1/session',
    type: json,
    body: `{"name":"x","password":"y","prototype":1,"a":[${filled('{},', bytes)}0]}`,
  }),
}

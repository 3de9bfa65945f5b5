// The endpoints of the playground: path, initial body, form fields and kind of answer of each.
/** `lines`: a list of texts, each on a line of its own. */
type FieldKind = 'text' | 'long' | 'lines' | 'number' | 'switch' | 'choice'

export interface Field {
  /** Where it is in the body: `messages.0.content`. */
  at: string
  kind: FieldKind
  label: FieldLabel
  options?: readonly string[]
  /** It is a part of a list: what to put there for a value, and where that part has the value. */
  item?: { of: (value: string) => unknown; valueAt: string }
}

type FieldLabel =
  | 'prompt'
  | 'inputs'
  | 'max_tokens'
  | 'stream'
  | 'temperature'
  | 'seconds'
  | 'size'
  | 'count'
  | 'resolution'
  | 'seed'
  | 'image_url'

export interface Endpoint {
  /** As the catalog names the interface. */
  use: string
  title: string
  path: (model: string) => string
  /** The model stands in the path, not in the body. */
  isModelInPath?: boolean
  /** The initial body has an image. */
  takesImage?: boolean
  /** The field of the body that names the model; default `model`. */
  modelField?: string
  body: Readonly<Record<string, unknown>>
  fields: readonly Field[]
  answer: 'text' | 'vectors' | 'images' | 'task'
  /** Where the id of the task is in the answer. */
  taskId?: string
  /** What the interface leaves out of that id. */
  taskPrefix?: string
}

const said = (text: string) => [{ role: 'user', content: text }]
const hello = 'Hello! Who are you?'
const scene = 'A cat walks along the beach at sunset'
const nativeImage: Field['item'] = {
  of: (url) => ({ type: 'image_url', image_url: { url } }),
  valueAt: 'image_url.url',
}
const stream: Field = { at: 'stream', kind: 'switch', label: 'stream' }

export const endpoints: readonly Endpoint[] = [
  {
    use: 'chat',
    title: 'Chat',
    path: () => '/v1/chat/completions',
    body: { messages: said(hello), stream: true, max_tokens: 200 },
    fields: [
      { at: 'messages.0.content', kind: 'long', label: 'prompt' },
      { at: 'max_tokens', kind: 'number', label: 'max_tokens' },
      { at: 'temperature', kind: 'number', label: 'temperature' },
      stream,
    ],
    answer: 'text',
  },
  {
    use: 'responses',
    title: 'Responses',
    path: () => '/v1/responses',
    body: { input: hello, stream: true, max_output_tokens: 200 },
    fields: [
      { at: 'input', kind: 'long', label: 'prompt' },
      { at: 'max_output_tokens', kind: 'number', label: 'max_tokens' },
      stream,
    ],
    answer: 'text',
  },
  {
    use: 'messages',
    title: 'Messages',
    path: () => '/v1/messages',
    body: { messages: said(hello), stream: true, max_tokens: 200 },
    fields: [
      { at: 'messages.0.content', kind: 'long', label: 'prompt' },
      { at: 'max_tokens', kind: 'number', label: 'max_tokens' },
      stream,
    ],
    answer: 'text',
  },
  {
    use: 'generate',
    title: 'Generate',
    path: (model) => `/vendorg/v1beta/models/${model}:generateContent`,
    isModelInPath: true,
    body: {
      contents: [{ role: 'user', parts: [{ text: hello }] }],
      generationConfig: { maxOutputTokens: 200 },
    },
    fields: [
      { at: 'contents.0.parts.0.text', kind: 'long', label: 'prompt' },
      { at: 'generationConfig.maxOutputTokens', kind: 'number', label: 'max_tokens' },
      { at: 'generationConfig.temperature', kind: 'number', label: 'temperature' },
    ],
    answer: 'text',
  },
  {
    use: 'embeddings',
    title: 'Embeddings',
    path: () => '/v1/embeddings',
    body: { input: ['a cat', 'a dog', 'a bill'] },
    fields: [{ at: 'input', kind: 'lines', label: 'inputs' }],
    answer: 'vectors',
  },
  {
    use: 'images',
    title: 'Images',
    path: () => '/v1/images/generations',
    body: { prompt: 'A lighthouse in a storm', n: 1, size: '1024x1024' },
    fields: [
      { at: 'prompt', kind: 'long', label: 'prompt' },
      { at: 'n', kind: 'number', label: 'count' },
      { at: 'size', kind: 'choice', label: 'size', options: ['1024x1024', '1280x720', '720x1280'] },
    ],
    answer: 'images',
  },
  {
    use: 'images',
    title: 'Image edit',
    path: () => '/v1/images/edits',
    takesImage: true,
    body: { prompt: 'Make it night', images: [{ image_url: 'https://example.com/in.png' }] },
    fields: [
      { at: 'prompt', kind: 'long', label: 'prompt' },
      { at: 'images.0.image_url', kind: 'text', label: 'image_url' },
    ],
    answer: 'images',
  },
  {
    use: 'videos',
    title: 'Video',
    path: () => '/v1/videos',
    body: { prompt: scene, seconds: 5, resolution: '720p' },
    fields: [
      { at: 'prompt', kind: 'long', label: 'prompt' },
      { at: 'input_reference', kind: 'text', label: 'image_url' },
      { at: 'seconds', kind: 'number', label: 'seconds' },
      { at: 'resolution', kind: 'choice', label: 'resolution', options: ['720p', '1080p'] },
      { at: 'seed', kind: 'number', label: 'seed' },
    ],
    answer: 'task',
    taskId: 'id',
  },
  {
    use: 'arkvendor',
    title: 'Native video',
    path: () => '/arkvendor/api/v3/contents/generations/tasks',
    body: { content: [{ type: 'text', text: scene }], duration: 5, resolution: '720p' },
    fields: [
      { at: 'content.0.text', kind: 'long', label: 'prompt' },
      { at: 'content.1', kind: 'text', label: 'image_url', item: nativeImage },
      { at: 'duration', kind: 'number', label: 'seconds' },
      { at: 'resolution', kind: 'choice', label: 'resolution', options: ['480p', '720p', '1080p'] },
    ],
    answer: 'task',
    taskId: 'platform_id',
  },
  {
    use: 'vendorg',
    title: 'Operation',
    path: (model) => `/vendorg/v1beta/models/${model}:predictLongRunning`,
    isModelInPath: true,
    body: {
      instances: [{ prompt: scene }],
      parameters: { durationSeconds: 5, resolution: '720p' },
    },
    fields: [
      { at: 'instances.0.prompt', kind: 'long', label: 'prompt' },
      { at: 'parameters.durationSeconds', kind: 'number', label: 'seconds' },
      {
        at: 'parameters.resolution',
        kind: 'choice',
        label: 'resolution',
        options: ['720p', '1080p'],
      },
    ],
    answer: 'task',
    taskId: 'name',
    taskPrefix: 'video_',
  },
  {
    use: 'imgvendor',
    title: 'Image task',
    path: () => '/imgvendor/v1/images/generations',
    modelField: 'model_name',
    body: { prompt: 'A lighthouse in a storm', n: 1 },
    fields: [
      { at: 'prompt', kind: 'long', label: 'prompt' },
      { at: 'n', kind: 'number', label: 'count' },
    ],
    answer: 'task',
    taskId: 'data.task_id',
  },
]

/** Of the models of an interface, the first that takes what the initial body has; else the first. */
export const firstModel = (
  { takesImage = false }: Endpoint,
  names: readonly string[],
): string | undefined => names.find((name) => /i2v|r2v|edit/.test(name) === takesImage) ?? names[0]

/** The gateway's id of a created task: an operation's name ends in it, without the prefix. */
export function taskIdIn({ taskId = '', taskPrefix = '' }: Endpoint, body: unknown): string {
  const id = String(valueAt(body, taskId)).split('/').at(-1) ?? ''
  return id.startsWith(taskPrefix) ? id : taskPrefix + id
}

/** Where the text is that the sandbox reads. */
export function promptAt({ fields }: Endpoint): string | undefined {
  const field = fields.find(({ kind }) => kind === 'long' || kind === 'lines')
  return field?.kind === 'lines' ? `${field.at}.0` : field?.at
}

/** The value at `a.0.b`; undefined when there is none. */
export function valueAt(body: unknown, at: string): unknown {
  let value = body
  for (const part of at.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

/** A copy with the value at `a.0.b`; undefined takes it out. */
export function withValue(body: unknown, at: string, value: unknown): unknown {
  const [first = '', ...rest] = at.split('.')
  const isList = Array.isArray(body) || (body === undefined && /^\d+$/.test(first))
  const copy: Record<string, unknown> | unknown[] = isList
    ? [...((body as unknown[] | undefined) ?? [])]
    : { ...(body as Record<string, unknown> | undefined) }
  const target = copy as Record<string, unknown>
  const next = rest.length === 0 ? value : withValue(target[first], rest.join('.'), value)
  if (next !== undefined) target[first] = next
  else if (Array.isArray(copy)) copy.splice(Number(first), 1)
  else delete target[first]
  return copy
}

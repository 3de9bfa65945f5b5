// The interfaces of the playground, by tab: path, initial body, form fields and kind of answer of each.
import type { Tab } from './tabs.ts'

/** `lines`: a list of texts, each on a line of its own. */
type FieldKind = 'text' | 'long' | 'lines' | 'number' | 'switch' | 'choice'

export interface Field {
  /** Where it is in the body: `images.0.image_url`. */
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
  | 'seconds'
  | 'size'
  | 'count'
  | 'resolution'
  | 'seed'
  | 'image_url'
  | 'spoken'
  | 'voice'
  | 'speed'
  | 'format'
  | 'language'
  | 'vocabulary'
  | 'query'
  | 'documents'
  | 'top_n'
  | 'judged'

export interface Endpoint {
  tab: Tab
  /** As the catalog names the interface. */
  use: string
  /** Its name in addresses and in saved requests. */
  title: string
  path: (model: string) => string
  /** The model stands in the path, not in the body. */
  isModelInPath?: boolean
  /** The initial body has an image. */
  takesImage?: boolean
  /** A form with a sound file, not JSON. */
  takesFile?: boolean
  /** The field of the body that names the model; default `model`. */
  modelField?: string
  body: Readonly<Record<string, unknown>>
  /** None: edited as JSON only. */
  fields: readonly Field[]
  answer: 'text' | 'vectors' | 'images' | 'task' | 'sound' | 'transcript' | 'ranking' | 'moderation'
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

export const endpoints: readonly Endpoint[] = [
  {
    tab: 'chat',
    use: 'chat',
    title: 'Chat',
    path: () => '/v1/chat/completions',
    body: { messages: said(hello), stream: true, max_tokens: 200 },
    fields: [],
    answer: 'text',
  },
  {
    tab: 'chat',
    use: 'responses',
    title: 'Responses',
    path: () => '/v1/responses',
    body: { input: hello, stream: true, max_output_tokens: 200 },
    fields: [],
    answer: 'text',
  },
  {
    tab: 'chat',
    use: 'messages',
    title: 'Messages',
    path: () => '/v1/messages',
    body: { messages: said(hello), stream: true, max_tokens: 200 },
    fields: [],
    answer: 'text',
  },
  {
    tab: 'chat',
    use: 'generate',
    title: 'Generate',
    path: (model) => `/vendorg/v1beta/models/${model}:generateContent`,
    isModelInPath: true,
    body: {
      contents: [{ role: 'user', parts: [{ text: hello }] }],
      generationConfig: { maxOutputTokens: 200 },
    },
    fields: [],
    answer: 'text',
  },
  {
    tab: 'embeddings',
    use: 'embeddings',
    title: 'Embeddings',
    path: () => '/v1/embeddings',
    body: { input: ['a cat', 'a dog', 'a bill'] },
    fields: [{ at: 'input', kind: 'lines', label: 'inputs' }],
    answer: 'vectors',
  },
  {
    tab: 'images',
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
    tab: 'images',
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
    tab: 'video',
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
    tab: 'video',
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
    tab: 'video',
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
    tab: 'images',
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
  {
    tab: 'speech',
    use: 'speech',
    title: 'Speech',
    path: () => '/v1/audio/speech',
    body: { input: 'Good morning. The gateway is ready.', voice: 'alloy', response_format: 'mp3' },
    fields: [
      { at: 'input', kind: 'long', label: 'spoken' },
      { at: 'voice', kind: 'text', label: 'voice' },
      {
        ...{ at: 'response_format', kind: 'choice', label: 'format' },
        options: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'],
      },
      { at: 'speed', kind: 'number', label: 'speed' },
    ],
    answer: 'sound',
  },
  transcription('Transcription', '/v1/audio/transcriptions', [
    { at: 'language', kind: 'text', label: 'language' },
  ]),
  transcription('Translation', '/v1/audio/translations', []),
  {
    tab: 'rerank',
    use: 'rerank',
    title: 'Rerank',
    path: () => '/v1/rerank',
    body: {
      query: 'How do I get my money back?',
      documents: [
        'Deliveries take two days.',
        'Refunds are paid within a week.',
        'We are open from nine to five.',
      ],
      return_documents: true,
    },
    fields: [
      { at: 'query', kind: 'long', label: 'query' },
      { at: 'documents', kind: 'lines', label: 'documents' },
      { at: 'top_n', kind: 'number', label: 'top_n' },
    ],
    answer: 'ranking',
  },
  {
    tab: 'moderation',
    use: 'moderations',
    title: 'Moderation',
    path: () => '/v1/moderations',
    body: { input: ['Have a nice day!', 'An act of violence'] },
    fields: [{ at: 'input', kind: 'lines', label: 'judged' }],
    answer: 'moderation',
  },
]

/** Both take a file and answer with what was said in it. */
function transcription(title: string, path: string, fields: readonly Field[]): Endpoint {
  const options = ['json', 'verbose_json', 'text', 'srt', 'vtt']
  return {
    tab: 'transcription',
    use: 'transcriptions',
    title,
    path: () => path,
    takesFile: true,
    body: { response_format: 'json' },
    fields: [
      ...fields,
      { at: 'prompt', kind: 'text', label: 'vocabulary' },
      { at: 'response_format', kind: 'choice', label: 'format', options },
    ],
    answer: 'transcript',
  }
}

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

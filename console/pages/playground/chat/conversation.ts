// A conversation and its set-up, whatever style it is sent in: plain values, and how they are read from
// storage and links. Knows no wire shape.

const styleNames = ['chat', 'responses', 'messages', 'generate'] as const
export type StyleName = (typeof styleNames)[number]

export interface ToolCall {
  id: string
  name: string
  /** JSON, as the model wrote it. */
  arguments: string
}

export interface UserTurn {
  role: 'user'
  text: string
  /** Web addresses, or data addresses of dropped files. */
  images: readonly string[]
}

export interface AnswerTurn {
  role: 'assistant'
  text: string
  thinking: string
  calls: readonly ToolCall[]
  /** In which style it came, and what that style wants to be given back. */
  style: StyleName
  /** Which one answered; the next one may be asked of another. */
  model?: string
  native?: unknown
  /** It is no part of what is sent next. */
  isFailed?: boolean
}

interface ToolTurn {
  role: 'tool'
  answers: readonly { id: string; name: string; text: string }[]
}

export type Turn = UserTurn | AnswerTurn | ToolTurn

export const formats = ['text', 'json_object', 'json_schema'] as const
type Format = (typeof formats)[number]

/** What one sets besides what is said; texts of JSON are as they were typed. */
export interface SetUp {
  system: string
  temperature?: number
  top_p?: number
  max_tokens?: number
  effort?: string
  /** One per line. */
  stop: string
  stream: boolean
  /** A list of `{ name, description, parameters }`, or of any style's tools. */
  tools: string
  format: Format
  schema: string
  /** An object with other fields of the request. */
  more: string
}

export const emptySetUp: SetUp = {
  system: '',
  max_tokens: 500,
  stop: '',
  stream: true,
  tools: '',
  format: 'text',
  schema: '',
  more: '',
}

interface Tool {
  name: string
  description?: string
  parameters: object
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Undefined for an empty text; throws for what is no JSON. */
export const parsedJson = (text: string): unknown =>
  text.trim() === '' ? undefined : (JSON.parse(text) as unknown)

/** The functions of a text, in any of the shapes that the styles have for them. */
export function toolsIn(text: string): Tool[] {
  const read = parsedJson(text)
  const all = Array.isArray(read) ? (read as unknown[]) : read === undefined ? [] : [read]
  return all.flatMap((each) => {
    const outer = record(each)
    const declared = outer['functionDeclarations']
    if (Array.isArray(declared)) return declared.flatMap((one: unknown) => toolFrom(record(one)))
    return toolFrom(outer['function'] === undefined ? outer : record(outer['function']))
  })
}

function toolFrom(given: Record<string, unknown>): Tool[] {
  const { name, description } = given
  if (typeof name !== 'string') return []
  const schema = given['parameters'] ?? given['input_schema'] ?? given['parametersJsonSchema']
  return [
    {
      name,
      ...(typeof description === 'string' && { description }),
      parameters: record(schema ?? { type: 'object', properties: {} }),
    },
  ]
}

/** Which of the texts of JSON cannot be read, and why. */
export function problemsIn(setUp: SetUp): Partial<Record<'tools' | 'schema' | 'more', string>> {
  const problems: ReturnType<typeof problemsIn> = {}
  const check = (name: keyof typeof problems, read: () => unknown) => {
    try {
      read()
    } catch (error) {
      problems[name] = (error as Error).message
    }
  }
  check('tools', () => toolsIn(setUp.tools))
  check('more', () => parsedJson(setUp.more))
  if (setUp.format === 'json_schema') check('schema', () => parsedJson(setUp.schema))
  return problems
}

export const stopsIn = ({ stop }: SetUp): string[] | undefined => {
  const lines = stop.split('\n').filter((line) => line !== '')
  return lines.length === 0 ? undefined : lines
}

/** The conversation that is being had: in the storage of the tab, and in a link without its images. */
export interface Conversation {
  setUp: SetUp
  /** What is typed and not yet sent. */
  prompt: string
  /** Of each model, in order. */
  lanes: readonly (readonly Turn[])[]
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** It may come from another person: only what is known is taken. */
export function conversationFrom(value: unknown): Conversation | undefined {
  const given = record(value)
  if (typeof given['setUp'] !== 'object') return undefined
  const lanes = Array.isArray(given['lanes']) ? (given['lanes'] as unknown[]) : []
  return {
    setUp: setUpFrom(record(given['setUp'])),
    prompt: text(given['prompt']),
    lanes: lanes.slice(0, 2).map((lane) => (Array.isArray(lane) ? lane.flatMap(turnFrom) : [])),
  }
}

function setUpFrom(given: Record<string, unknown>): SetUp {
  const number = (name: 'temperature' | 'top_p' | 'max_tokens') =>
    typeof given[name] === 'number' ? { [name]: given[name] } : {}
  return {
    system: text(given['system']),
    ...number('temperature'),
    ...number('top_p'),
    ...number('max_tokens'),
    ...(typeof given['effort'] === 'string' && { effort: given['effort'] }),
    stop: text(given['stop']),
    stream: given['stream'] !== false,
    tools: text(given['tools']),
    format: formats.find((each) => each === given['format']) ?? 'text',
    schema: text(given['schema']),
    more: text(given['more']),
  }
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(record) : []

function turnFrom(value: unknown): Turn[] {
  const given = record(value)
  switch (given['role']) {
    case 'user': {
      const images = Array.isArray(given['images']) ? given['images'] : []
      return [{ role: 'user', text: text(given['text']), images: images.filter(isImageAddress) }]
    }
    case 'assistant':
      return [
        {
          role: 'assistant',
          ...{ text: text(given['text']), thinking: text(given['thinking']) },
          calls: listOf(given['calls']).map((call) => ({
            ...{ id: text(call['id']), name: text(call['name']) },
            arguments: text(call['arguments']),
          })),
          style: styleNames.find((each) => each === given['style']) ?? 'chat',
          ...(typeof given['model'] === 'string' && { model: given['model'] }),
          ...(given['native'] !== undefined && { native: given['native'] }),
        },
      ]
    case 'tool':
      return [
        {
          role: 'tool',
          answers: listOf(given['answers']).map((answer) => ({
            ...{ id: text(answer['id']), name: text(answer['name']), text: text(answer['text']) },
          })),
        },
      ]
    default:
      return []
  }
}

/** What may be shown as an image and sent as one. */
export const isImageAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(https?:\/\/|data:image\/[\w.+-]+;base64,)/i.test(value)

/** For a link: no image, and of an answer nothing but what was said. */
export const withoutImages = (conversation: Conversation): Conversation => ({
  ...conversation,
  lanes: conversation.lanes.map((lane) => lane.map(plainTurn)),
})

function plainTurn(turn: Turn): Turn {
  if (turn.role === 'user') return { ...turn, images: [] }
  if (turn.role === 'tool') return turn
  const { role, text: said, thinking, calls, style, model } = turn
  return { ...{ role, text: said, thinking, calls, style }, ...(model !== undefined && { model }) }
}

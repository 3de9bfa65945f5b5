// Checks a file of calls before it is sent, as the gateway will: every mistake with its line. Pure.

const batchPaths = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
] as const

export const maxLines = 50_000
export const maxBytes = 100_000_000

type Mistake =
  | 'not_object'
  | 'no_custom_id'
  | 'same_custom_id'
  | 'wrong_method'
  | 'wrong_url'
  | 'other_url'
  | 'no_model'
  | 'streams'

export interface Checked {
  lines: number
  /** The path that all lines have. */
  url: string | undefined
  models: string[]
  mistakes: { line: number; mistake: Mistake }[]
}

type Fields = Record<string, unknown>

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined

function parsed(line: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(line))
  } catch {
    return undefined
  }
}

export function checkLines(text: string): Checked {
  const checked: Checked = { lines: 0, url: undefined, models: [], mistakes: [] }
  const ids = new Set<string>()
  const models = new Set<string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    checked.lines++
    const mistake = mistakeIn(parsed(line), ids, models, checked)
    if (mistake !== undefined) checked.mistakes.push({ line: at + 1, mistake })
  }
  checked.models = [...models]
  return checked
}

function mistakeIn(
  call: Fields | undefined,
  ids: Set<string>,
  models: Set<string>,
  checked: Checked,
): Mistake | undefined {
  if (call === undefined) return 'not_object'
  const { custom_id: id, method, url } = call
  if (typeof id !== 'string' || id === '') return 'no_custom_id'
  if (ids.has(id)) return 'same_custom_id'
  ids.add(id)
  if (method !== 'POST') return 'wrong_method'
  if (!batchPaths.some((path) => path === url)) return 'wrong_url'
  checked.url ??= url as string
  if (url !== checked.url) return 'other_url'
  const body = fieldsOf(call['body']) ?? {}
  if (typeof body['model'] !== 'string') return 'no_model'
  models.add(body['model'])
  return body['stream'] === true || body['background'] === true ? 'streams' : undefined
}

/** Three calls to begin with. */
export const sampleLines = (model: string): string =>
  ['red', 'green', 'blue']
    .map((word) =>
      JSON.stringify({
        custom_id: word,
        method: 'POST',
        url: batchPaths[0],
        body: { model, messages: [{ role: 'user', content: `A poem about ${word}` }] },
      }),
    )
    .join('\n')

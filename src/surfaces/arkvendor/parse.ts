// The native request: reads what the gateway needs to route it and to hold its cost. The rest is sent
// unchanged, and the upstream judges it.
import { z } from 'zod'
import type { VideoParams } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { plainBase64After } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { readFields } from '../media/fields.ts'

export interface NativeCall {
  model: string
  request: VideoParams
}

type Item = Readonly<Record<string, unknown>>

export const maxItems = 32
/** Never sent upstream: the caller's callback address, and fields of the gateway itself. */
const keptBack = ['model', 'callback_url', 'aspect_ratio']

const aText = (name: string) => z.string(`'${name}' must be a string`).optional()
const aNumber = (name: string) => z.number(`'${name}' must be a number`).optional()

/** The types are those of the specification; the upstream judges the values. */
export const nativeFields = z.object({
  resolution: aText('resolution').describe('Such as `480p`, `720p`, `1080p`.'),
  ratio: aText('ratio').describe('Such as `16:9`.'),
  aspect_ratio: aText('aspect_ratio').describe('The same.'),
  frames: aNumber('frames').describe('Length in frames; wins over `duration`.'),
  duration: aNumber('duration').describe('Seconds; -1: the upstream chooses.'),
  seed: aNumber('seed'),
})

const codes = {
  resolution: 'invalid_resolution',
  frames: 'invalid_duration',
  duration: 'invalid_duration',
  seed: 'invalid_seed',
} as const

export async function parseNative(given: Fields, account?: string): Promise<NativeCall | Refusal> {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  for (const name of ['draft_task', 'draft_task_id']) {
    if (name in fields) return wrong(name, "a draft goes into 'content', as {type: 'draft_task'}")
  }
  const content = contentIn(fields)
  if (content instanceof Refusal) return content
  const read = readFields(nativeFields, fields, codes)
  if (read instanceof Refusal) return read
  const body = await bodyOf(fields, account)
  return {
    model,
    request: {
      prompt: textOf(content),
      ...(read.seed !== undefined && { seed: read.seed }),
      media: [],
      native: { body },
    },
  }
}

/** Frames give the length more exactly, so they take precedence. */
async function bodyOf(fields: Fields, account: string | undefined): Promise<Fields> {
  const ratio = fields['ratio'] ?? fields['aspect_ratio']
  const drop = fields['frames'] === undefined ? keptBack : [...keptBack, 'duration']
  const kept = Object.entries(fields).filter(([name]) => !drop.includes(name))
  const content: Item[] = []
  for (const item of fields['content'] as Item[]) {
    content.push(await withPlainBase64(item, account))
  }
  return { ...Object.fromEntries(kept), content, ...(ratio !== undefined && { ratio }) }
}

const inlineOpening = /^\s*data:[^,]{0,256};base64,/i

/** Some tools break lines of base64, which the upstream may refuse. */
async function withPlainBase64(item: Item, account: string | undefined): Promise<Item> {
  const image = item['image_url']
  const url = isObject(image) ? image['url'] : undefined
  const [opening] = typeof url === 'string' ? (inlineOpening.exec(url) ?? []) : []
  if (!isObject(image) || typeof url !== 'string' || opening === undefined) return item
  const plain = await plainBase64After(opening.trimStart(), url, opening.length, account)
  // The upstream judges what is not base64.
  return plain === undefined ? item : { ...item, image_url: { ...image, url: plain } }
}

function contentIn({ content }: Fields): Item[] | Refusal {
  if (!Array.isArray(content) || content.length === 0) {
    return wrong('content', "'content' must be a list with at least one item")
  }
  if (content.length > maxItems) {
    return wrong('content', `'content' has more than ${maxItems} items`)
  }
  for (const [index, item] of content.entries()) {
    const why = isObject(item) ? problemOfItem(item) : 'must be an object'
    if (why !== undefined) return wrong('content', `'content[${index}]' ${why}`)
  }
  const items = content as Item[]
  const foreign = foreignIn(items)
  if (foreign !== undefined) return foreign
  return items.some(isDraft) || textOf(items).trim() !== ''
    ? items
    : wrong('content', "'content' needs an item {type: 'text', text}")
}

function problemOfItem(item: Item): string | undefined {
  const { type, text, image_url: image } = item
  if (typeof type !== 'string') return "needs a 'type'"
  if (isDraft(item)) return draftIn(item) === undefined ? 'needs {draft_task: {id}}' : undefined
  if (type === 'text') return typeof text === 'string' ? undefined : "needs a 'text'"
  if (type !== 'image_url') return undefined
  const url = isObject(image) ? image['url'] : undefined
  return typeof url === 'string' && url !== '' ? undefined : 'needs {image_url: {url}}'
}

const isDraft = ({ type, draft_task: draft }: Item): boolean =>
  type === 'draft_task' || (draft !== undefined && draft !== null)

function draftIn({ draft_task: draft }: Item): string | undefined {
  const id = isObject(draft) ? draft['id'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Ids of the drafts that this task continues, as the caller names them. */
export const draftsIn = ({ native }: VideoParams): string[] =>
  itemsIn(native).flatMap((item) => draftIn(item) ?? [])

const itemsIn = (native: VideoParams['native']): Item[] =>
  Array.isArray(native?.body['content']) ? native.body['content'].filter(isObject) : []

/** The same request with the upstream's ids of those tasks. */
export function withDrafts(request: VideoParams, ids: ReadonlyMap<string, string>): VideoParams {
  const content = itemsIn(request.native).map((item) => {
    const id = ids.get(draftIn(item) ?? '')
    return id === undefined ? item : { ...item, draft_task: { id } }
  })
  return { ...request, native: { body: { ...request.native?.body, content } } }
}

/** Other schemes name files in the operator's upstream account, where callers have none. */
function foreignIn(items: readonly Item[]): Refusal | undefined {
  for (const item of items) {
    for (const name of ['image_url', 'video_url', 'audio_url']) {
      const media = item[name]
      const url = isObject(media) ? media['url'] : media
      if (typeof url !== 'string' || !/^\s*(?!https?:|data:)[a-z][a-z\d+.-]*:/i.test(url)) continue
      return refuse('file_not_found', `there is no file '${url.slice(0, 80)}'`, { param: name })
    }
  }
  return undefined
}

const textOf = (content: readonly Item[]): string =>
  content
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join('\n')

// What every text protocol's request comes down to: functions, then turns made of parts. Counts
// and remembers them as a prompt, and finds in them what the answer depends on. Knows no wire.
import { asList, asObject, type Json } from '../http/fields.ts'
import { type Mark, Prompt } from './prompt.ts'

export type Part = TextPart | MediaPart

interface TextPart {
  kind: 'text'
  text: string
  mark: Mark
  /** Belongs to what a function gave back: the id of the call. */
  result?: string
}

interface MediaPart {
  kind: 'media'
  /** Whatever tells this medium from another one. */
  reference: string
  image: boolean
  mark: Mark
  /** Names a file that the upstream would keep. */
  fileId?: string
  result?: string
}

export interface Turn {
  role: string
  parts: readonly Part[]
  mark: Mark
}

export interface Tool {
  /** Empty for what the upstream would run itself: it counts, and is never called. */
  name: string
  /** The group that it belongs to, in a protocol that has groups. */
  namespace?: string
  /** Takes free text instead of JSON. */
  freeForm?: boolean
  /** The JSON schema of its arguments. */
  parameters: Json
  /** As it counts. */
  definition: string
  mark: Mark
}

export function markOf(holder: Json): Mark {
  if (asObject(holder['prompt_cache_breakpoint'])['mode'] === 'explicit') return 'minutes'
  const { type, ttl } = asObject(holder['cache_control'])
  if (type !== 'ephemeral') return 'none'
  return ttl === '1h' ? 'hour' : 'minutes'
}

/** Without its marker: the same thing is the same prompt wherever the marker has moved. */
const unmarked = (holder: Json): string =>
  JSON.stringify({ ...holder, cache_control: undefined, prompt_cache_breakpoint: undefined })

export const textPart = (text: string, mark: Mark = 'none'): TextPart => ({
  kind: 'text',
  text,
  mark,
})

export function mediaPart(part: Json, image: boolean): MediaPart {
  const holders = [part, asObject(part['file']), asObject(part['source'])]
  const fileId = holders.map((holder) => holder['file_id']).find((id) => typeof id === 'string')
  return {
    kind: 'media',
    reference: unmarked(part),
    image,
    mark: markOf(part),
    ...(typeof fileId === 'string' && { fileId }),
  }
}

/** All parts of what a function gave back. */
export const resultParts = (parts: readonly Part[], callId: unknown): Part[] =>
  (parts.length === 0 ? [textPart('')] : parts).map((part) => ({ ...part, result: String(callId) }))

interface DescribedTool {
  name: unknown
  parameters: unknown
  namespace?: unknown
  freeForm?: boolean
}

/** `describe` says where a protocol keeps the name and the schema of a function. */
export function readTools(tools: unknown, describe: (tool: Json) => DescribedTool): Tool[] {
  return asList(tools).map((one) => {
    const tool = asObject(one)
    const { name, parameters, namespace, freeForm = false } = describe(tool)
    return {
      name: typeof name === 'string' ? name : '',
      ...(typeof namespace === 'string' && { namespace }),
      freeForm,
      parameters: asObject(parameters),
      definition: unmarked(tool),
      mark: markOf(tool),
    }
  })
}

export function layOutPrompt(tools: readonly Tool[], turns: readonly Turn[]): Prompt {
  const prompt = new Prompt()
  for (const tool of tools) {
    prompt.addText(tool.definition)
    prompt.endPart(tool.mark)
  }
  for (const turn of turns) {
    prompt.openMessage(turn.role)
    for (const part of turn.parts) {
      if (part.kind === 'text') prompt.addText(part.text)
      else prompt.addMedia(part.reference)
      prompt.endPart(part.mark)
    }
    prompt.endPart(turn.mark)
  }
  return prompt
}

export const countImages = (turns: readonly Turn[]): number =>
  turns.flatMap((turn) => turn.parts).filter((part) => part.kind === 'media' && part.image).length

/** What the user said last; empty when a function's result has come since. */
export function lastUserText(turns: readonly Turn[]): string {
  const last = turns.findLast((turn) => turn.role === 'user' || turn.parts.some(isResult))
  if (last === undefined) return ''
  const since = last.parts.slice(last.parts.findLastIndex(isResult) + 1)
  return since.map((part) => (part.kind === 'text' ? part.text : '')).join('\n')
}

const isResult = (part: Part): boolean => part.result !== undefined

/** What each function gave back, in the order of the results. */
export function resultTexts(parts: readonly Part[]): string[] {
  const texts = new Map<string, string>()
  for (const part of parts) {
    if (part.result === undefined) continue
    const text = part.kind === 'text' ? part.text : ''
    texts.set(part.result, (texts.get(part.result) ?? '') + text)
  }
  return [...texts.values()]
}

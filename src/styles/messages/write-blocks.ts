// Parts of a conversation as content blocks of a messages request.
import type { Refusal } from '../../contract/errors.ts'
import type {
  CacheMark,
  Conversation,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../common/conversation.ts'
import { inputObject } from '../common/exact-json.ts'
import { wrapInput } from '../common/free-form.ts'
import { tooManyValues } from '../common/growth.ts'
import { type Losses, notCarried } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import type { Target } from '../common/style.ts'
import { allowedName, type ToolNames } from '../common/tool-names.ts'

const callId = /^[a-zA-Z0-9_-]{1,128}$/

export type Block = Record<string, unknown>

export class BlockWriter {
  problem: Refusal | undefined
  readonly #fieldNames: Conversation['fieldNames']
  readonly #target: Target
  readonly #names: ToolNames
  readonly #losses: Losses

  constructor({ fieldNames }: Conversation, target: Target, names: ToolNames, losses: Losses) {
    this.#fieldNames = fieldNames
    this.#target = target
    this.#names = names
    this.#losses = losses
  }

  /** Undefined for a part that this upstream must not get. */
  block(part: Part): Block | undefined {
    switch (part.type) {
      case 'text':
        return part.text.trim() === ''
          ? this.#blank()
          : marked({ type: 'text', text: part.text }, part)
      case 'refusal':
        this.#losses.add(this.#fieldNames.refusal)
        return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
      case 'reasoning':
        return this.#reasoning(part)
      case 'call':
        return this.#call(part)
      case 'result':
        return this.#result(part)
      default:
        return this.#media(part)
    }
  }

  /** White space alone is refused upstream. */
  #blank(): undefined {
    this.#losses.add(this.#fieldNames.turns)
  }

  /** Its text has to be the one that was signed. Reasoning without a seal of this realm is refused. */
  #reasoning({ text, seal }: ReasoningPart): Block | undefined {
    if (seal === undefined || seal.realm !== this.#target.realm) {
      this.#losses.add(this.#fieldNames.reasoning)
      return undefined
    }
    return seal.redacted
      ? { type: 'redacted_thinking', data: seal.data }
      : { type: 'thinking', thinking: seal.text ?? text, signature: seal.data }
  }

  #call(part: ToolCallPart): Block {
    const { id, freeForm, input: text, seal } = part
    if (seal !== undefined) this.#losses.add(this.#fieldNames.reasoning)
    if (!freeForm && !this.#target.growth.addJson(text)) {
      this.#refuse(this.#fieldNames.turns, tooManyValues)
      return {}
    }
    const { input, changed } = inputObject(freeForm ? wrapInput(text) : text)
    if (changed) this.#losses.add(this.#fieldNames.turns)
    const name = this.#names.upstream(part)
    return marked({ type: 'tool_use', id: allowedName(id, callId), name, input }, part)
  }

  #result(part: ToolResultPart): Block {
    const blocks = part.parts.flatMap((each): Block[] => {
      if (each.type === 'text' && each.text === '') return []
      return listed(this.block(each))
    })
    const [only, ...more] = blocks
    const isPlain = more.length === 0 && only?.['type'] === 'text' && !only['cache_control']
    const content = isPlain ? only['text'] : blocks
    return marked(
      {
        type: 'tool_result',
        tool_use_id: allowedName(part.callId, callId),
        ...(blocks.length > 0 && { content }),
        ...(part.isError && { is_error: true }),
      },
      part,
    )
  }

  #media(part: MediaPart): Block | undefined {
    const name = this.#fieldNames[part.type]
    if (part.type === 'audio' || part.type === 'video') {
      return this.#refuse(name, `its upstream takes no ${part.type}`)
    }
    if (part.url !== undefined && !this.#target.settings.mediaUrls) {
      return this.#refuse(name, 'its upstream takes the file itself only, not its URL')
    }
    if (part.type === 'document') return this.#document(part, name)
    const { mimeType = 'image/png', data, url } = part
    const source =
      url === undefined ? { type: 'base64', media_type: mimeType, data } : { type: 'url', url }
    return marked({ type: 'image', source }, part)
  }

  #document(part: MediaPart, name: string): Block | undefined {
    const { mimeType = 'application/pdf', data, url, name: title } = part
    const text = part.text ?? (data !== undefined && textOf(mimeType, data))
    if (text === false && !this.#target.settings.documents) {
      return this.#refuse(name, 'its upstream takes no documents')
    }
    if (text === false && url === undefined && mimeType !== 'application/pdf') {
      return this.#refuse(name, 'its upstream takes documents as PDF or text only')
    }
    const source =
      text !== false
        ? { type: 'text', media_type: 'text/plain', data: text }
        : url !== undefined
          ? { type: 'url', url }
          : { type: 'base64', media_type: mimeType, data }
    return marked({ type: 'document', source, ...present({ title }) }, part)
  }

  #refuse(name: string, why: string): undefined {
    this.problem ??= notCarried(name, why)
  }
}

/** This style takes text as text; other files stay encoded. */
const textOf = (mimeType: string, data: string): string | false =>
  mimeType.startsWith('text/') ? Buffer.from(data, 'base64').toString() : false

const listed = (block: Block | undefined): Block[] => (block === undefined ? [] : [block])

export function marked(block: Block, { cache }: { cache?: CacheMark }): Block {
  if (cache !== undefined) block['cache_control'] = { type: 'ephemeral', ...cache }
  return block
}

// Parts of a conversation as content blocks of a Converse request. A mark for the cache is a block of its own.
import type { Refusal } from '../../contract/errors.ts'
import type {
  CacheMark,
  Conversation,
  Json,
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
import type { Target } from '../common/style.ts'
import { allowedName, type ToolNames } from '../common/tool-names.ts'

const callId = /^[a-zA-Z0-9_-]{1,64}$/

export type Block = Record<string, unknown>

/** By media type: what Converse calls the format. */
const formats: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image: {
    'image/png': 'png',
    'image/jpeg': 'jpeg',
    'image/jpg': 'jpeg',
    'image/gif': 'gif',
    'image/webp': 'webp',
  },
  document: {
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  },
  video: {
    'video/mp4': 'mp4',
    'video/quicktime': 'mov',
    'video/webm': 'webm',
    'video/x-matroska': 'mkv',
    'video/mpeg': 'mpeg',
  },
}

const usualTypes: Readonly<Record<string, string>> = {
  image: 'image/png',
  document: 'application/pdf',
  video: 'video/mp4',
}

export class BlockWriter {
  problem: Refusal | undefined
  readonly #fieldNames: Conversation['fieldNames']
  readonly #target: Target
  readonly #names: ToolNames
  readonly #losses: Losses
  #documents = 0

  constructor({ fieldNames }: Conversation, target: Target, names: ToolNames, losses: Losses) {
    this.#fieldNames = fieldNames
    this.#target = target
    this.#names = names
    this.#losses = losses
  }

  /** None for a part that this upstream must not get. */
  blocks(part: Part): Block[] {
    const block = this.#block(part)
    if (block === undefined) return []
    return [block, ...this.mark('cache' in part ? part : {})]
  }

  mark({ cache }: { cache?: CacheMark }): Block[] {
    if (cache === undefined) return []
    if (!this.#target.settings.cacheControl) {
      this.#losses.add(this.#fieldNames.cache)
      return []
    }
    return [{ cachePoint: { type: 'default', ...(cache.ttl === '1h' && { ttl: cache.ttl }) } }]
  }

  #block(part: Part): Block | undefined {
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? this.#blank() : { text: part.text }
      case 'refusal':
        this.#losses.add(this.#fieldNames.refusal)
        return part.text.trim() === '' ? undefined : { text: part.text }
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

  /** Reasoning goes back only to where it was signed. */
  #reasoning({ text, seal }: ReasoningPart): Block | undefined {
    if (seal === undefined || seal.realm !== this.#target.realm) {
      this.#losses.add(this.#fieldNames.reasoning)
      return undefined
    }
    return seal.redacted
      ? { reasoningContent: { redactedContent: seal.data } }
      : { reasoningContent: { reasoningText: { text: seal.text ?? text, signature: seal.data } } }
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
    return { toolUse: { toolUseId: allowedName(id, callId), name, input } }
  }

  #result({ callId: id, parts, isError }: ToolResultPart): Block {
    const content = parts.flatMap((each) =>
      each.type === 'text' && each.text.trim() === '' ? [] : this.blocks(each),
    )
    return {
      toolResult: {
        toolUseId: allowedName(id, callId),
        // Something has to be there.
        content: content.length > 0 ? content : [{ json: {} }],
        ...(isError && { status: 'error' }),
      },
    }
  }

  #media(part: MediaPart): Block | undefined {
    const { type, url, text } = part
    const name = this.#fieldNames[type]
    if (url !== undefined) {
      return this.#refuse(name, 'its upstream takes the file itself only, not its URL')
    }
    if (type === 'document' && !this.#target.settings.documents) {
      return this.#refuse(name, 'its upstream takes no documents')
    }
    const mimeType = text === undefined ? (part.mimeType ?? usualTypes[type]!) : 'text/plain'
    const format = formats[type]?.[mimeType.split(';', 1)[0]!.trim()]
    if (format === undefined) return this.#refuse(name, `its upstream takes no ${mimeType}`)
    const bytes = text === undefined ? part.data : Buffer.from(text).toString('base64')
    const source: Json = { bytes }
    if (type !== 'document') return { [type]: { format, source } }
    return { document: { format, name: this.#documentName(part), source } }
  }

  /** Names are needed, must differ, and may have few characters. */
  #documentName({ name = '' }: MediaPart): string {
    const plain = name
      .replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ')
      .trim()
      .slice(0, 100)
    this.#documents++
    return `${plain || 'document'} ${this.#documents}`
  }

  #refuse(name: string, why: string): undefined {
    this.problem ??= notCarried(name, why)
  }
}

// Turns of a conversation as the contents of a generate request.
import type { Refusal } from '../../contract/errors.ts'
import type {
  Conversation,
  Json,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../common/conversation.ts'
import { documentText, mimeTypeOfName } from '../common/data-url.ts'
import { plainSeal, type Seal } from '../common/envelope.ts'
import { inputObject } from '../common/exact-json.ts'
import { wrapInput } from '../common/free-form.ts'
import { tooManyValues } from '../common/growth.ts'
import { type Losses, notCarried } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import type { Target } from '../common/style.ts'
import type { ToolNames } from '../common/tool-names.ts'
import { noSeal } from './field-names.ts'

export class ContentWriter {
  problem: Refusal | undefined
  readonly contents: Json[] = []
  readonly #names: Conversation['fieldNames']
  readonly #target: Target
  readonly #toolNames: ToolNames
  readonly #losses: Losses
  /** Names of tools as the upstream knows them, by call. */
  readonly #called = new Map<string, string>()

  constructor(conversation: Conversation, target: Target, toolNames: ToolNames, losses: Losses) {
    this.#names = conversation.fieldNames
    this.#target = target
    this.#toolNames = toolNames
    this.#losses = losses
  }

  turn({ role, parts }: Turn): void {
    const written = role === 'assistant' ? this.#modelParts(parts) : this.#userParts(parts)
    if (written.length === 0) return
    this.contents.push({ role: role === 'assistant' ? 'model' : 'user', parts: written })
  }

  /** The upstream wants a seal on the first call of each turn. */
  #modelParts(parts: readonly Part[]): Json[] {
    const first = parts.find((part) => part.type === 'call')
    return parts.flatMap((part) => {
      if (part.type === 'call') return [this.#call(part, part === first)]
      if (part.type === 'reasoning') return this.#reasoning(part)
      return this.#content(part)
    })
  }

  /** What another upstream sealed means nothing to this one. */
  #own(seal: Seal | undefined): string | undefined {
    if (seal !== undefined && seal.realm === this.#target.realm) return seal.data
    if (seal !== undefined) this.#losses.add(this.#names.reasoning)
    return undefined
  }

  #reasoning({ text, seal }: ReasoningPart): Json[] {
    const own = this.#own(seal)
    if (own === undefined) {
      this.#losses.add(this.#names.reasoning)
      return []
    }
    if (own === plainSeal) return text === '' ? [] : [{ text, thought: true }]
    return [{ text, ...(text !== '' && { thought: true }), thoughtSignature: own }]
  }

  #call(part: ToolCallPart, isFirst: boolean): Json {
    const thoughtSignature = this.#own(part.seal) ?? (isFirst ? noSeal : undefined)
    if (part.cache !== undefined) this.#losses.add(this.#names.cache)
    const name = this.#toolNames.upstream(part)
    this.#called.set(part.id, name)
    if (!part.freeForm && !this.#target.growth.addJson(part.input)) {
      this.problem ??= notCarried(this.#names.turns, tooManyValues)
      return {}
    }
    const { input, changed } = inputObject(part.freeForm ? wrapInput(part.input) : part.input)
    if (changed) this.#losses.add(this.#names.turns)
    return {
      functionCall: { id: part.id, name, args: input },
      ...present({ thoughtSignature }),
    }
  }

  /** Results first: the upstream wants them right behind the calls. */
  #userParts(parts: readonly Part[]): Json[] {
    const results = parts.filter((part) => part.type === 'result')
    const rest = parts.filter((part) => part.type !== 'result')
    const written = results.map((result) => this.#result(result))
    return [
      ...written.map(({ result }) => result),
      ...written.flatMap(({ beside }) => beside),
      ...rest.flatMap((part) => this.#content(part)),
    ]
  }

  #result(part: ToolResultPart): { result: Json; beside: Json[] } {
    const { callId: id, parts, isError, cache } = part
    const isMarked = cache !== undefined || parts.some((each) => each.cache !== undefined)
    if (isMarked) this.#losses.add(this.#names.cache)
    const texts = parts.flatMap((each) => (each.type === 'text' ? [each.text] : []))
    const media = parts.filter((each) => each.type !== 'text').flatMap((each) => this.#media(each))
    const name = this.#called.get(id) ?? part.name ?? id
    const response = { [isError ? 'error' : 'result']: texts.join('\n') }
    const inside = this.#target.settings.mediaInResults && media.length > 0
    if (media.length > 0 && !inside) this.#losses.add(this.#names.result)
    return {
      result: { functionResponse: { id, name, response, ...(inside && { parts: media }) } },
      beside: inside ? [] : media,
    }
  }

  #content(part: Part): Json[] {
    if ('cache' in part && part.cache !== undefined) this.#losses.add(this.#names.cache)
    switch (part.type) {
      case 'text':
        return [{ text: part.text }]
      case 'refusal':
        this.#losses.add(this.#names.refusal)
        return [{ text: part.text }]
      case 'image':
      case 'document':
      case 'audio':
      case 'video':
        return this.#media(part)
      default:
        return []
    }
  }

  #media(part: MediaPart): Json[] {
    const { type, data, url, text, name } = part
    if (text !== undefined) {
      this.#losses.add(this.#names.document)
      return [{ text: documentText(part) }]
    }
    const mimeType = part.mimeType ?? mimeTypeOfName(name ?? url ?? '') ?? typical[type]
    if (type === 'document') {
      if (!this.#target.settings.documents) return this.#refuse(part, 'its upstream takes none')
      if (!readable.test(mimeType)) return this.#refuse(part, `it cannot read '${mimeType}'`)
    }
    if (name !== undefined) this.#losses.add(`${this.#names[type]}.name`)
    if (data !== undefined) return [{ inlineData: { mimeType, data } }]
    if (!this.#target.settings.mediaUrls) {
      return this.#refuse(part, 'its upstream does not fetch URLs')
    }
    return [{ fileData: { mimeType, fileUri: url } }]
  }

  #refuse({ type }: MediaPart, why: string): Json[] {
    this.problem ??= notCarried(this.#names[type], why)
    return []
  }
}

/** Types of documents. */
const readable = /^(?:application\/(?:pdf|json|xml|javascript|x-[\w-]+)|text\/.+)$/

const typical: Readonly<Record<MediaPart['type'], string>> = {
  image: 'image/jpeg',
  document: 'application/pdf',
  audio: 'audio/wav',
  video: 'video/mp4',
}

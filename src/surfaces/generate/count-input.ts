// How large the input of a call of the generate style is: a rough count of its tokens, and what
// bounds them. A part that it does not know leaves the size open. Notes what may not be asked for.
import { type Refusal, unknownObject } from '../../contract/errors.ts'
import type { InputBound, ServerTool } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { templateTokens } from '../text/count-input.ts'
import { foreignField, foreignIn, isAddress, namesFile, noFile } from '../text/refuse-extras.ts'
import { fieldIn, givenTwice, snakeOf } from './fields.ts'

/** What a turn costs besides its words. */
const perTurn = 8
/** An image costs hundreds to a few thousand tokens whatever its bytes are. */
const perMedia = 2_048

/** Adds up the contents of one request. */
export class ContentCounter {
  /** A rough count. */
  tokens = 0
  /** The first thing in it that may not be asked for. */
  problem: Refusal | undefined
  #turns = 0
  #images = 0
  /** Of images that came along: they are no text. */
  #imageBytes = 0
  #isOpen = false
  /** This style has no marks for a cache. */
  readonly hourCache = false
  /** Those that the upstream would run. */
  readonly serverTools: ServerTool[] = []
  #hasTools = false

  /** A list of contents, or one. */
  contents(contents: unknown): this {
    const list = Array.isArray(contents) ? contents : contents == null ? [] : [contents]
    for (const content of list) {
      this.#turns++
      this.tokens += perTurn
      if (typeof content === 'string') this.#text(content)
      else if (isObject(content)) this.#content(content)
    }
    return this
  }

  tools(tools: unknown): this {
    if (tools == null) return this
    this.#hasTools = true
    this.tokens += countTokens(JSON.stringify(tools))
    const list = Array.isArray(tools) ? tools : [tools]
    for (let i = 0; i < list.length; i++) {
      if (isObject(list[i])) this.problem ??= toolProblem(list[i], `tools[${i}]`, this.serverTools)
    }
    return this
  }

  open(): void {
    this.#isOpen = true
  }

  /** `body` is all that goes upstream, so that no text of it is missed. */
  bound(body: string, inputs = 1): InputBound {
    const { perCall, perMessage, perImage, withTools } = templateTokens
    const wrapped =
      perCall +
      this.#turns * perMessage +
      this.#images * perImage +
      (this.#hasTools ? withTools : 0)
    const textBytes = Math.max(0, Buffer.byteLength(body) - this.#imageBytes)
    const isOpen = this.#isOpen
    return { maxTextTokens: textBytes + wrapped, images: this.#images, isOpen, inputs }
  }

  #text(text: string): void {
    this.tokens += countTokens(text)
    if (namesFile(text)) this.problem ??= noFile
  }

  /** All of it goes upstream, whatever else stands beside its parts. */
  #content(content: Fields): void {
    for (const name in content) {
      const held = content[name]
      if (name === 'parts') this.#parts(held)
      else if (name !== 'role') this.#unknown(name, held)
    }
  }

  #unknown(name: string, held: unknown): void {
    if (held == null) return
    this.problem ??= foreignField(name, held) ?? foreignIn(held)
    if (typeof held === 'object' || (typeof held === 'string' && isAddress(held))) {
      this.#isOpen = true
    }
  }

  #parts(parts: unknown): void {
    const list = Array.isArray(parts) ? parts : parts == null ? [] : [parts]
    for (const part of list) {
      if (typeof part === 'string') this.#text(part)
      else if (isObject(part)) this.#part(part)
    }
  }

  #part(part: Fields): void {
    for (const name in part) {
      const held = part[name]
      if (held == null) continue
      switch (readers[name]) {
        case 'text':
          if (typeof held === 'string') this.#text(held)
          break
        case 'json':
          this.tokens += countTokens(JSON.stringify(held))
          this.problem ??= foreignIn(held)
          break
        case 'inline':
          this.#inline(held)
          break
        case 'file':
          this.#file(held)
          break
        case 'result':
          this.#result(held)
          break
        case 'mark':
          this.problem ??= foreignIn(held)
          break
        default:
          this.#unknown(name, held)
          this.#isOpen = true
          this.tokens += perMedia
      }
    }
  }

  /** Only images have a size that the catalog bounds; a sound or a document may be of any length. */
  #inline(blob: unknown): void {
    this.tokens += perMedia
    if (isObject(blob)) this.problem ??= givenTwice(blob, ['mimeType'], 'inlineData.')
    this.problem ??= foreignIn(blob)
    const data = isObject(blob) ? blob['data'] : undefined
    const type = isObject(blob) ? fieldIn(blob, 'mimeType') : undefined
    const isImage = typeof type === 'string' && /^image\//i.test(type)
    if (!isImage || typeof data !== 'string') {
      this.#isOpen = true
      return
    }
    this.#images++
    this.#imageBytes += data.length
  }

  /** By address: of any size. What the upstream keeps for its account is not the caller's. */
  #file(file: unknown): void {
    this.tokens += perMedia
    this.#isOpen = true
    if (isObject(file)) this.problem ??= givenTwice(file, ['fileUri'], 'fileData.')
    const uri = isObject(file) ? fieldIn(file, 'fileUri') : undefined
    if (typeof uri === 'string' && isKeptUpstream(uri)) {
      this.problem ??= unknownObject('fileData.fileUri')
    }
    this.problem ??= foreignIn(file)
  }

  #result(result: unknown): void {
    if (!isObject(result)) return
    const { parts, ...rest } = result
    this.tokens += countTokens(JSON.stringify(rest))
    this.problem ??= foreignIn(rest)
    this.#parts(parts)
  }
}

/** How a part's field is read; `mark`: it has no size of its own. Any other may be of any size. */
const readers: Readonly<
  Record<string, 'text' | 'json' | 'inline' | 'file' | 'result' | 'mark' | undefined>
> = {
  __proto__: null as never,
  ...both('text', 'text'),
  ...both('mark', 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution'),
  ...both('json', 'functionCall', 'executableCode', 'codeExecutionResult'),
  ...both('inline', 'inlineData'),
  ...both('file', 'fileData'),
  ...both('result', 'functionResponse'),
}

function both<Reader extends string>(read: Reader, ...names: string[]): Record<string, Reader> {
  return Object.fromEntries(names.flatMap((name) => [name, snakeOf(name)]).map((n) => [n, read]))
}

/** `files/a`, `gs://a/b`, and addresses of the upstream's own store of files. */
const isKeptUpstream = (uri: string): boolean =>
  !/^\s*https?:\/\//i.test(uri) ||
  /^\s*https?:\/\/[^/?#]*googleapis\.com(?:[:/?#]|$)/i.test(uri) ||
  /\/v\d+(?:alpha|beta)?\d*\/files\//i.test(uri)

const functionNames = ['functionDeclarations', snakeOf('functionDeclarations')]
const clientNames = new Set([...functionNames, 'computerUse', snakeOf('computerUse')])

/** Tools that the upstream runs, under the names that prices have for them. */
const serverNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    googleSearch: 'web_search',
    googleSearchRetrieval: 'web_search',
    urlContext: 'web_fetch',
    codeExecution: 'code_execution',
  }).flatMap(([name, tool]) => [name, snakeOf(name)].map((each) => [each, tool])),
)

/** Tools that the caller runs itself pass, those of the upstream are added to `found` or refused. */
function toolProblem(tool: Fields, at: string, found: ServerTool[]): Refusal | undefined {
  for (const name in tool) {
    if (tool[name] == null || clientNames.has(name)) continue
    const param = `${at}.${name.slice(0, 64)}`
    const refusal = wrong(
      param,
      `'${param}' cannot be used: a tool that the upstream runs costs extra and the model has no price for it`,
    )
    const server = Object.hasOwn(serverNames, name) ? serverNames[name] : undefined
    if (server === undefined) return refusal
    found.push({ name: server, refusal })
  }
  return undefined
}

// The names of tools at an upstream: the caller's own where the upstream allows them, otherwise a
// short form that depends on the full name only, so that every gateway and every turn maps alike.
import { createHash } from 'node:crypto'
import type { CallHead } from './answer.ts'
import type { Tool, ToolChoice } from './conversation.ts'

const keptLetters = 47
const hashLetters = 16

type Named = Pick<Tool, 'name' | 'namespace'>
type Original = Omit<CallHead, 'id'>

export class ToolNames {
  readonly #allowed: RegExp
  readonly #originals = new Map<string, Original>()
  readonly #sent = new Map<string, string>()
  /** The tool in whose input the upstream gives its answer as JSON; set by a writer of requests. */
  answerTool: string | undefined

  constructor(tools: readonly Tool[], allowed: RegExp) {
    this.#allowed = allowed
    // A tool without a namespace keeps its name when a member of one would have the same.
    for (const tool of tools) if (tool.namespace === undefined) this.#add(tool)
    for (const tool of tools) if (tool.namespace !== undefined) this.#add(tool)
  }

  #add({ name, namespace, freeForm }: Tool): void {
    const key = keyOf({ name, namespace })
    if (this.#sent.has(key)) return
    const plain = this.#nameOf(flat({ name, namespace }))
    const sent = this.#originals.has(plain) ? shortened(key) : plain
    this.#sent.set(key, sent)
    this.#originals.set(sent, {
      name,
      ...(namespace !== undefined && { namespace }),
      freeForm: freeForm !== undefined,
    })
  }

  #nameOf(name: string): string {
    return allowedName(name, this.#allowed)
  }

  /** Also for a tool of an earlier turn that is not offered any more. */
  upstream({ name, namespace }: Named): string {
    return this.#sent.get(keyOf({ name, namespace })) ?? this.#nameOf(flat({ name, namespace }))
  }

  /** A name that was never sent stays as the model wrote it. */
  original(sent: string): Original {
    return this.#originals.get(sent) ?? { name: sent, freeForm: false }
  }
}

const keyOf = ({ name, namespace }: { name: string; namespace?: string | undefined }): string =>
  `${namespace ?? ''}\n${name}`

function flat({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  if (namespace === undefined || name.startsWith(`${namespace}__`)) return name
  return `${namespace}__${name}`
}

/** The same form for other names that an upstream restricts, such as the ids of calls. */
export const allowedName = (name: string, allowed: RegExp): string =>
  allowed.test(name) ? name : shortened(name)

function shortened(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, keptLetters)
  const start = /^[a-zA-Z_]/.test(plain) ? plain : `_${plain.slice(1)}`
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLetters)
  return `${start}_${hash}`
}

/** Whether the model has to call a tool. */
export const isForced = (choice: ToolChoice | undefined): boolean =>
  choice?.mode === 'required' || choice?.mode === 'tool'

// The names of tools at an upstream: the caller's own where the upstream allows them, otherwise a
// short form that depends on the full name only, so that every gateway and every turn maps alike.
import { createHash } from 'node:crypto'
import type { CallHead } from './answer.ts'
import type { Tool, ToolChoice } from './conversation.ts'

const keptLetters = 47
const hashLetters = 16

type Named = Pick<Tool, 'name' | 'namespace'>
type Original = Omit<CallHead, 'id'>

/** The names in answers: what the caller calls a tool that the upstream names. */
export interface AnswerNames {
  answerTool: string | undefined
  original(sent: string): Original
  /** Those that differ from what was sent, as JSON. */
  readonly renamedText: string
}

export class ToolNames implements AnswerNames {
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

  /** What answers need of them: names that differ from those that were sent. */
  get renamedText(): string {
    const renamed = [...this.#originals].filter(
      ([sent, { name, namespace, freeForm }]) =>
        sent !== name || namespace !== undefined || freeForm,
    )
    return JSON.stringify(renamed)
  }
}

/** The same in another thread, parsed when an answer has the first one. */
export class RenamedTools implements AnswerNames {
  readonly answerTool: string | undefined
  readonly renamedText: string
  #originals: Map<string, Original> | undefined

  constructor(answerTool: string | undefined, renamedText: string) {
    this.answerTool = answerTool
    this.renamedText = renamedText
  }

  original(sent: string): Original {
    this.#originals ??= new Map(JSON.parse(this.renamedText))
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

/** The tool that a choice names; of several the first. One that is not offered has only its name. */
export const toolNamed = (tools: readonly Tool[], { name, namespace }: Named): Named | Tool =>
  tools.find(
    (tool) => tool.name === name && (namespace === undefined || tool.namespace === namespace),
  ) ?? { name }

/** The same for a list of names. */
export function toolsNamed(tools: readonly Tool[], names: readonly string[]): (Named | Tool)[] {
  const byName = new Map<string, Tool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return names.map((name) => byName.get(name) ?? { name })
}

// The outcome of reading gateway.yaml again: what changed in it, by name and never by value, or why
// the old one stays in force.
import type { FileDeclaration } from './config-schema/index.ts'

interface FileChange {
  section: string
  /** Of the entry; the section's own for one that has no entries. */
  name: string
  change: 'added' | 'changed' | 'removed'
}

export type ReloadOutcome =
  | { kind: 'reloaded'; file: string | null; changes: readonly FileChange[] }
  | { kind: 'refused'; reason: string }

/** Entries that have one name are told apart by their order. */
const nameOf: Readonly<Record<string, (entry: Record<string, unknown>) => unknown>> = {
  tokens: ({ account, name }) => `${account}/${name}`,
  prices: ({ model, account }) => (account === undefined ? model : `${model} for ${account}`),
  webhooks: ({ url, email }) => (url === undefined ? email : hostOf(url)),
}

/** The rest of an address may hold a secret. */
const hostOf = (url: unknown): unknown => URL.parse(String(url))?.host

export function fileChanges(before: FileDeclaration, after: FileDeclaration): FileChange[] {
  const sections = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...sections].sort().flatMap((section) => {
    const old = Reflect.get(before, section)
    const next = Reflect.get(after, section)
    if (Bun.deepEquals(old, next)) return []
    if (!isList(old) && !isList(next))
      return [{ section, name: section, change: changeOf(old, next)! }]
    return entryChanges(section, entriesOf(section, old), entriesOf(section, next))
  })
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

function entriesOf(section: string, list: unknown): Map<string, unknown[]> {
  const name = nameOf[section] ?? (({ name: own }) => own)
  const entries = (isList(list) ? list : []) as Record<string, unknown>[]
  return Map.groupBy<string, unknown>(entries, (entry) =>
    String(name(entry as Record<string, unknown>)),
  )
}

function entryChanges(
  section: string,
  before: ReadonlyMap<string, unknown[]>,
  after: ReadonlyMap<string, unknown[]>,
): FileChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.flatMap((name) => {
    const change = changeOf(before.get(name), after.get(name))
    return change === undefined ? [] : [{ section, name, change }]
  })
}

function changeOf(old: unknown, next: unknown): FileChange['change'] | undefined {
  if (Bun.deepEquals(old, next)) return undefined
  if (old === undefined) return 'added'
  return next === undefined ? 'removed' : 'changed'
}

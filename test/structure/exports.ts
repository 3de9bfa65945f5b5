// Exported names that no other file imports: they need not be exported, or need not exist.
import { resolveImport, type SourceFile } from './sources.ts'
import type { Syntax } from './syntax.ts'

const named =
  /\b(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^}]*)\}\s*from\s*['"](\.[^'"]+)['"]/g

/** import('x'), import * as all from 'x', export * from 'x', new URL('x', …), import 'x' */
const whole =
  /(?:\bimport\(\s*|\*\s*(?:as\s+[\w$]+\s+)?from\s*|\bnew URL\(\s*|^import\s+)['"](\.[^'"]+)['"]/gm

/** 'type A, b as c' -> ['A', 'b'] */
const namesIn = (clause: string): string[] =>
  clause
    .split(',')
    .map(
      (each) =>
        each
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)[0]!,
    )
    .filter(Boolean)

/** Per file the names that others take from it; undefined: all of them may be used. */
function usedNames(files: readonly SourceFile[]): Map<string, Set<string> | undefined> {
  const used = new Map<string, Set<string> | undefined>()
  for (const file of files) {
    for (const [, clause, name] of file.text.matchAll(named)) {
      const target = resolveImport(file.path, name!)
      if (used.has(target) && used.get(target) === undefined) continue
      const names = used.get(target) ?? new Set()
      for (const each of namesIn(clause!)) names.add(each)
      used.set(target, names)
    }
    for (const [, name] of file.text.matchAll(whole)) {
      used.set(resolveImport(file.path, name!), undefined)
    }
  }
  return used
}

export function unusedExports(
  sources: ReadonlyMap<string, Syntax>,
  everyFile: readonly SourceFile[],
): { values: string[]; types: string[] } {
  const used = usedNames(everyFile)
  const values: string[] = []
  const types: string[] = []
  for (const [path, { exports }] of sources) {
    if (used.has(path) && used.get(path) === undefined) continue
    for (const { name, isType } of exports) {
      if (used.get(path)?.has(name)) continue
      ;(isType ? types : values).push(`${path} ${name}`)
    }
  }
  return { values, types }
}

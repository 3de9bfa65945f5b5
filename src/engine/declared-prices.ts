// Which stored price versions are the ones a list of declarations speaks of. Versions are never
// taken away, so what the file no longer says must be told apart from what it says now.
import { type PriceDeclaration, termsFrom } from '../contract/declarations.ts'
import type { Price } from '../contract/price.ts'

export const startOf = ({ effective_from }: PriceDeclaration): number | undefined =>
  effective_from === undefined ? undefined : Date.parse(effective_from)

/**
 * The last version for the same start or, where none is declared, the last that has begun. A start
 * that is declared beside it belongs to another version.
 */
export function lastVersion(
  declared: PriceDeclaration,
  declarations: readonly PriceDeclaration[],
  versions: readonly Price[],
  nowMs: number,
): Price | undefined {
  const startMs = startOf(declared)
  const dated = declarations.filter(({ model }) => model === declared.model).map(startOf)
  const fits = ({ model, effectiveFromMs: fromMs }: Price) => {
    if (model !== declared.model) return false
    return startMs === undefined ? fromMs <= nowMs && !dated.includes(fromMs) : fromMs === startMs
  }
  return versions
    .filter(fits)
    .toSorted((a, b) => a.effectiveFromMs - b.effectiveFromMs || (a.id < b.id ? -1 : 1))
    .at(-1)
}

export const saysTheSame = (declared: PriceDeclaration, { terms }: Price): boolean =>
  Bun.deepEquals(terms, termsFrom(declared), true)

/** Everything but versions of the file that it does not declare any more. */
export function withoutDropped(
  versions: readonly Price[],
  declarations: readonly PriceDeclaration[],
  nowMs: number,
): Price[] {
  const fromFile = versions.filter(({ source }) => source === 'file')
  const kept = new Set(
    declarations.map((declared) => {
      const same = fromFile.filter((price) => saysTheSame(declared, price))
      return lastVersion(declared, declarations, same, nowMs)
    }),
  )
  return versions.filter((price) => price.source !== 'file' || kept.has(price))
}

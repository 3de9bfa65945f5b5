// Parts that a world may have beside calls and tasks. A seed has the same calls and tasks without them.
import { createRandom } from './random.ts'

const partNames = ['books', 'batches', 'background'] as const
type PartName = (typeof partNames)[number]

/**
 * `books`: an earlier month with charges, refunds, costs that change, failed attempts that cost, several closings
 * of a month at once. `batches`: files and batches of lines. `background`: background responses.
 */
export type Parts = Readonly<Record<PartName, boolean>>

const share = 0.4

export function drawParts(seed: number): Parts {
  const random = createRandom(seed, 'parts')
  return partsOf(partNames.filter(() => random.chance(share)))
}

const partsOf = (names: readonly string[]): Parts =>
  Object.fromEntries(partNames.map((name) => [name, names.includes(name)])) as Record<
    PartName,
    boolean
  >

/** `none`, `all` or names with commas between them; undefined: anything else. */
export function partsFrom(text: string): Parts | undefined {
  if (text === 'none') return partsOf([])
  if (text === 'all') return partsOf(partNames)
  const names = text.split(',')
  return names.every((name) => partNames.includes(name as PartName)) ? partsOf(names) : undefined
}

/** As the command line takes them. */
export const partsText = (parts: Parts): string =>
  partNames.filter((name) => parts[name]).join(',') || 'none'

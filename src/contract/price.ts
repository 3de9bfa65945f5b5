// A price as it is applied: whole nano-units of the currency. One price version per row, never edited.
import type { Model, ModelKind, Source } from './catalog.ts'

export interface TokenRates {
  /** Nano-units per million tokens. */
  inputNanos: bigint
  outputNanos: bigint
  /** Absent: charged as input. */
  cacheReadNanos?: bigint
  cacheWriteNanos?: bigint
}

export interface TokenTier extends TokenRates {
  /** Largest whole input this tier covers; the last tier also takes everything above it. */
  upTo?: number
}

/** Sizes a picture can be priced by, smallest first. What each means is in image-size.ts. */
export const imageSizes = ['1k', '2k', '4k'] as const
export type ImageSize = (typeof imageSizes)[number]

export interface SizedImageTerms {
  unit: 'image'
  perSizeNanos: Readonly<Partial<Record<ImageSize, bigint>>>
  /** What a request counts as that asks for no size. */
  defaultSize: ImageSize
}

export type ImageTerms =
  /** Whatever the size. */
  { unit: 'image'; perImageNanos: bigint } | SizedImageTerms

export type PriceTerms =
  | { unit: 'token'; tiers: readonly TokenTier[] }
  | ImageTerms
  | { unit: 'video_second'; perSecondNanos: Readonly<Record<string, bigint>> }
  | { unit: 'video_token'; perMillionNanos: bigint }
  /** Ends an account's own price: from here on it pays what everybody pays. Never charged by. */
  | { unit: 'default' }

export interface Price {
  id: string
  model: string
  /** Whose price it is; absent: everybody's who has none of their own. */
  account?: { id: string; name: string }
  terms: PriceTerms
  effectiveFromMs: number
  /** Made to begin when it was made: it has begun, also when the clock was set back since. */
  atOnce?: true
  source: Source
}

/** Whether a version is in force, or was: only one that was scheduled waits for its time. */
export const hasBegun = ({ effectiveFromMs, atOnce }: Price, nowMs: number): boolean =>
  atOnce === true || effectiveFromMs <= nowMs

type Unit = PriceTerms['unit']

const unitsOf: Readonly<Record<ModelKind, readonly Unit[]>> = {
  text: ['token'],
  embedding: ['token'],
  image: ['image'],
  video: ['video_second', 'video_token'],
}

/** A price in another unit would leave the model without one. */
export function unitProblem({ name, kind }: Model, unit: Unit): string | undefined {
  const units = unitsOf[kind]
  if (unit === 'default' || units.includes(unit)) return undefined
  const article = /^[aei]/.test(kind) ? 'an' : 'a'
  return `must be ${units.join(' or ')}: '${name}' is ${article} ${kind} model`
}

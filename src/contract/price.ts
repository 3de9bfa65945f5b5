// A price as it is applied: whole nano-units of the currency. One price version per row, never edited.
import type { Model, ModelKind, Source } from './catalog.ts'

export interface TokenRates {
  /** Nano-units per million tokens. */
  inputNanos: bigint
  outputNanos: bigint
  /** Absent: charged as input. */
  cacheReadNanos?: bigint
  cacheWriteNanos?: bigint
  /** Written to be kept for an hour. Absent: by the rate of other writes, see charge.ts. */
  cacheWrite1hNanos?: bigint
}

export interface TokenTier extends TokenRates {
  /** Maximum total input this tier covers; the last tier also takes everything above it. */
  upTo?: number
}

/** Sizes that an image can be priced by, smallest first. image-size.ts defines each. */
export const imageSizes = ['1k', '2k', '4k'] as const
export type ImageSize = (typeof imageSizes)[number]

export interface SizedImageTerms {
  unit: 'image'
  perSizeNanos: Readonly<Partial<Record<ImageSize, bigint>>>
  /** The size of a request that names none. */
  defaultSize: ImageSize
}

export type ImageTerms =
  /** For any size. */
  { unit: 'image'; perImageNanos: bigint } | SizedImageTerms

export type PriceTerms =
  | {
      unit: 'token'
      tiers: readonly TokenTier[]
      /** By tool that the upstream runs: nano-units per call. Absent: no such tool can be used. */
      perCallNanos?: Readonly<Record<string, bigint>>
    }
  | ImageTerms
  | { unit: 'video_second'; perSecondNanos: Readonly<Record<string, bigint>> }
  | { unit: 'video_token'; perMillionNanos: bigint }
  /** Ends an account's own price: from here on it pays the general price. Never charged by. */
  | { unit: 'default' }

export interface Price {
  id: string
  model: string
  /** The account it applies to; absent: all accounts without a price of their own. */
  account?: { id: string; name: string }
  terms: PriceTerms
  effectiveFromMs: number
  /** Created to start immediately: it is in force even if the clock was set back since. */
  atOnce?: true
  source: Source
}

/** Whether a version is or was in force: only a scheduled one waits for its time. */
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

// A price as it is applied: whole nano-units of the currency. One price version per row, never edited.
import { type Model, modelKindRows, type Source } from './catalog.ts'

export interface TokenRates {
  /** Nano-units per million tokens. */
  inputNanos: bigint
  outputNanos: bigint
  /** Absent: charged as input. */
  cacheReadNanos?: bigint
  cacheWriteNanos?: bigint
  /** Written to be kept for an hour. Absent: by the rate of other writes, see rates.ts. */
  cacheWrite1hNanos?: bigint
  /** Absent: charged as any input or output. */
  inputAudioNanos?: bigint
  inputImageNanos?: bigint
  outputAudioNanos?: bigint
  outputImageNanos?: bigint
}

/** The names of the rates in declarations, price lists and explanations, in the order of these. */
export const rateFields = {
  input: 'inputNanos',
  output: 'outputNanos',
  cache_read: 'cacheReadNanos',
  cache_write: 'cacheWriteNanos',
  cache_write_1h: 'cacheWrite1hNanos',
  input_audio: 'inputAudioNanos',
  input_image: 'inputImageNanos',
  output_audio: 'outputAudioNanos',
  output_image: 'outputImageNanos',
} as const satisfies Record<string, keyof TokenRates>
export type RateName = keyof typeof rateFields
export const rateNames = Object.keys(rateFields) as RateName[]

export interface TokenTier extends TokenRates {
  /** Maximum total input this tier covers; the last tier also takes everything above it. */
  upTo?: number
}

/** Billionths: 1_500_000_000n multiplies by 1.5. */
type FactorNanos = bigint

/** A service tier of a token price: its own rates, or a factor of all rates of the price. */
export type ServiceTier = { factorNanos: FactorNanos } | { rates: TokenRates }

/** Words for the plain rates, in requests and answers. */
export const noTiers: readonly string[] = ['auto', 'default', 'standard', 'standard_only']

/** That of lines of batches; callers cannot ask for it. */
export const batchTier = 'batch'

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Weekday = (typeof weekdays)[number]

/** Hours of the week in which everything that the price says is multiplied. */
export interface PriceHours {
  /** Absent: all. */
  days?: readonly Weekday[]
  /** Minutes of the local day; one that ends at or before its start runs past midnight. */
  fromMinute: number
  toMinute: number
  zone: string
  factorNanos: FactorNanos
  /** Local dates on which it does not begin. */
  except?: readonly string[]
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

export interface TokenTerms {
  unit: 'token'
  tiers: readonly TokenTier[]
  /** By tool that the upstream runs: nano-units per call. Absent: no such tool can be used. */
  perCallNanos?: Readonly<Record<string, bigint>>
  /** By name. Absent: none can be asked for. */
  serviceTiers?: Readonly<Record<string, ServiceTier>>
  /** By the place that the answer names. */
  geo?: Readonly<Record<string, FactorNanos>>
}

/** Units of calls besides tokens: the field of their price, and how many units its amount is for. */
export const callUnits = {
  search: { field: 'per_search', per: 1n },
  character: { field: 'per_million', per: 1_000_000n },
  audio_second: { field: 'per_minute', per: 60n },
} as const
export type CallUnit = keyof typeof callUnits

/** Terms of calls that are charged by what they ask for, or not at all. */
type CallTerms = { unit: CallUnit; rateNanos: bigint } | { unit: 'free' }

export const isCallTerms = (terms: PriceTerms): terms is CallTerms & PriceTerms =>
  terms.unit === 'free' || Object.hasOwn(callUnits, terms.unit)

/** Which terms of a price beside its rates a charge is by; what is absent does not apply. */
export interface Applied {
  /** Charged by what the price says of this service tier. */
  serviceTier?: string
  /** The place in `geo`. */
  geo?: string
  /** Index in `hours`. */
  hours?: number
}

type UnitTerms =
  | TokenTerms
  | ImageTerms
  | { unit: 'video_second'; perSecondNanos: Readonly<Record<string, bigint>> }
  | { unit: 'video_token'; perMillionNanos: bigint }
  | CallTerms
  /** Ends an account's own price: from here on it pays the general price. Never charged by. */
  | { unit: 'default' }

export type PriceTerms = UnitTerms & {
  /** The first that fits applies; absent: always the same. */
  hours?: readonly PriceHours[]
}

export interface Price {
  id: string
  model: string
  /** The account it applies to; absent: all accounts without a price of their own. */
  account?: { id: string; name: string }
  /** Set when it is a cost: the name of the channel whose upstream takes it. */
  channel?: string
  /** Of a cost whose upstream takes another currency than the ledger's. */
  currency?: string
  terms: PriceTerms
  effectiveFromMs: number
  /** Created to start immediately: it is in force even if the clock was set back since. */
  atOnce?: true
  source: Source
  /** As the audit log names them; absent: the file, the gateway, or not known. */
  createdBy?: string
}

/** Whether a version is or was in force: only a scheduled one waits for its time. */
export const hasBegun = ({ effectiveFromMs, atOnce }: Price, nowMs: number): boolean =>
  atOnce === true || effectiveFromMs <= nowMs

type Unit = PriceTerms['unit']

/** A price in another unit would leave the model without one. */
export function unitProblem({ name, kind }: Model, unit: Unit): string | undefined {
  const units: readonly Unit[] = modelKindRows[kind].units
  if (unit === 'default' || units.includes(unit)) return undefined
  const article = /^[aei]/.test(kind) ? 'an' : 'a'
  return `must be ${units.join(' or ')}: '${name}' is ${article} ${kind} model`
}

// The label of a charge: which of its price's rates and terms it was made by, where they are not the plain ones.
// Charges with one label are summed together, so that a draft of a price can be compared with them.
//
//   up to 32000, service_tier=priority, hours=1, geo=us, cache_write_1h, web_search x2
import type { Applied, PriceTerms, TokenTerms, TokenTier } from '../contract/price.ts'
import type { TokenParts, TokenUsage, ToolCalls } from '../contract/usage.ts'
import { ownRates, tierFor } from './rates.ts'

const sizes = new WeakMap<TokenTier, string>()

/** Names of the rates that parts of a usage are charged by. */
export const partRates = {
  cacheWrite1hTokens: 'cache_write_1h',
  inputAudioTokens: 'input_audio',
  inputImageTokens: 'input_image',
  outputAudioTokens: 'output_audio',
  outputImageTokens: 'output_image',
} as const satisfies Record<keyof TokenParts, string>
export const partNames = Object.keys(partRates) as (keyof TokenParts)[]

/** Some of the tokens are charged by other models' prices. */
const otherModels = 'other models'

type Labelled = Pick<TokenUsage, 'inputTokens' | 'parts' | 'toolCalls' | 'others'>

/** Undefined for most charges: the plain rates of a price that has one tier. */
export function tierLabel(
  terms: PriceTerms,
  usage: Labelled,
  applied?: Applied,
): string | undefined {
  if (terms.unit !== 'token') {
    return applied?.hours === undefined ? undefined : `hours=${applied.hours + 1}`
  }
  const isPlain =
    usage.parts === undefined && usage.toolCalls === undefined && usage.others === undefined
  return isPlain && applied === undefined
    ? sizeLabel(terms, usage.inputTokens)
    : fullLabel(terms, usage, applied)
}

function fullLabel(
  terms: TokenTerms,
  { inputTokens, parts, toolCalls, others }: Labelled,
  applied: Applied | undefined,
): string | undefined {
  const input = others?.reduce((left, other) => left - other.inputTokens, inputTokens)
  const label = [
    sizeLabel(terms, input ?? inputTokens, applied),
    applied?.serviceTier && `service_tier=${applied.serviceTier}`,
    applied?.hours !== undefined && `hours=${applied.hours + 1}`,
    applied?.geo && `geo=${applied.geo}`,
    ...partNames.map((name) => parts?.[name] && partRates[name]),
    others && otherModels,
    ...Object.keys(toolCalls ?? {})
      .sort()
      .map((name) => `${name} x${toolCalls?.[name]}`),
  ].filter((each) => each)
  return label.length === 0 ? undefined : label.join(', ')
}

function sizeLabel(terms: TokenTerms, inputTokens: number, applied?: Applied): string | undefined {
  if (terms.tiers.length === 1 || ownRates(terms, applied?.serviceTier)) return undefined
  const tier = tierFor(terms.tiers, inputTokens)
  const known = sizes.get(tier)
  if (known !== undefined) return known
  // The last tier covers everything above, whatever its own bound.
  const below = tier === terms.tiers.at(-1) ? terms.tiers.at(-2)?.upTo : undefined
  const label = below === undefined ? `up to ${tier.upTo}` : `above ${below}`
  sizes.set(tier, label)
  return label
}

/** What a label says. */
interface LabelFacts {
  serviceTier?: string
  geo?: string
  /** Kinds of parts; how many tokens they have is not in the label. */
  parts: (keyof TokenParts)[]
  toolCalls?: ToolCalls
  hasOthers: boolean
}

export function factsOf(label: string): LabelFacts {
  const words = label.split(', ')
  const after = (name: string) =>
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const serviceTier = after('service_tier')
  const geo = after('geo')
  const calls = words.flatMap((word) => {
    const [, name, count] = /^([a-z][a-z0-9_]*) x(\d{1,9})$/.exec(word) ?? []
    return name === undefined ? [] : [[name, Number(count)] as const]
  })
  return {
    ...(serviceTier !== undefined && { serviceTier }),
    ...(geo !== undefined && { geo }),
    parts: partNames.filter((name) => words.includes(partRates[name])),
    ...(calls.length > 0 && { toolCalls: Object.fromEntries(calls) }),
    hasOthers: words.includes(otherModels),
  }
}

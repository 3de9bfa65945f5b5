// Calls of tools that an upstream runs: what they are held and charged for. A tool without a price is
// refused before anything is sent.
import { chargeCalls, maxChargeTokens } from '../../billing/charge.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { PriceTerms } from '../../contract/price.ts'
import type { ServerTool, TextCall } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'

/** Held for where nothing bounds the calls. */
const unboundUses = 10

const ratesOf = (terms: PriceTerms) => (terms.unit === 'token' ? terms.perCallNanos : undefined)

/** Of the first tool that the price does not have. */
export const toolRefusal = (tools: readonly ServerTool[], terms: PriceTerms): Refusal | undefined =>
  tools.find(({ name }) => ratesOf(terms)?.[name] === undefined)?.refusal

/** The cost of all tokens within the bounds, and of all calls that the tools may make. */
export function maxCharge(
  { serverTools: tools, hourCache }: Pick<TextCall, 'serverTools' | 'hourCache'>,
  terms: PriceTerms,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): bigint {
  const tokens = maxChargeTokens(terms, inputTokens, outputTokens, hourCache)
  return tools === undefined ? tokens : tokens + chargeCalls(terms, usesOf(tools))
}

/** A tool that is named twice may be called as often as both allow. */
function usesOf(tools: readonly ServerTool[]): Record<string, number> {
  const uses: Record<string, number> = {}
  for (const { name, maxUses = unboundUses } of tools) uses[name] = (uses[name] ?? 0) + maxUses
  return uses
}

/** The results of each call go through the model again. */
export function passesOf(tools: readonly ServerTool[] | undefined): number {
  if (tools === undefined) return 0
  return tools.reduce((sum, { maxUses = unboundUses }) => sum + maxUses, 0)
}

/** By tool: the bound that the caller set for it. */
export function boundUses(tools: readonly ServerTool[]): Readonly<Record<string, number>> {
  return usesOf(
    tools.filter(({ name }) =>
      tools.every((tool) => tool.name !== name || tool.maxUses !== undefined),
    ),
  )
}

/** Usage with the calls that are charged: of tools with a price, and no more than was allowed. */
export function withChargedCalls(
  usage: TokenUsage,
  terms: PriceTerms,
  bounds: Readonly<Record<string, number>> | undefined,
): TokenUsage {
  if (usage.toolCalls === undefined) return usage
  const { toolCalls, ...tokens } = usage
  const rates = ratesOf(terms)
  const charged = Object.entries(toolCalls).flatMap(([name, calls]) => {
    const count = Math.min(calls, bounds?.[name] ?? calls)
    return rates?.[name] === undefined || count === 0 ? [] : [[name, count] as const]
  })
  return charged.length === 0 ? tokens : { ...tokens, toolCalls: Object.fromEntries(charged) }
}

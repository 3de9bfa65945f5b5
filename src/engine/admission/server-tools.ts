// Calls of tools that an upstream runs: what they are held and charged for. A tool without a price is
// refused before anything is sent.
import { chargeCalls, chargeQuantity, hoursFactor } from '../../billing/charge.ts'
import { maxChargeTokens } from '../../billing/max-charge.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { Applied, PriceTerms } from '../../contract/price.ts'
import type { ServerTool, TextCall } from '../../contract/requests.ts'
import type { TokenUsage, ToolCalls } from '../../contract/usage.ts'
import { askRefusal, reachOf } from './price-reach.ts'

/** Held for where nothing bounds the calls. */
const unboundUses = 10

const ratesOf = (terms: PriceTerms) => (terms.unit === 'token' ? terms.perCallNanos : undefined)

/** Of the first thing that the call asks for and the price does not have. */
export const unpricedIn = (
  { serverTools, asks }: Pick<TextCall, 'serverTools' | 'asks'>,
  terms: PriceTerms,
): Refusal | undefined =>
  (serverTools && toolRefusal(serverTools, terms)) ?? (asks && askRefusal(asks, terms))

const toolRefusal = (tools: readonly ServerTool[], terms: PriceTerms): Refusal | undefined =>
  tools.find(({ name }) => ratesOf(terms)?.[name] === undefined)?.refusal

/** The cost of all tokens within the bounds, and of all calls that the tools may make. */
export function maxCharge(
  call: Pick<TextCall, 'serverTools' | 'hourCache' | 'inputBound' | 'asks' | 'quantity' | 'speaks'>,
  terms: PriceTerms,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
  applied?: Applied,
): bigint {
  if (terms.unit !== 'token') {
    return chargeQuantity(terms, call.quantity?.max ?? 0, applied?.hours) ?? 0n
  }
  const reach = reachOf(call, terms, applied)
  const tokens = maxChargeTokens(terms, inputTokens, outputTokens, reach)
  const { serverTools: tools } = call
  if (tools === undefined) return tokens
  const calls = chargeCalls(terms, usesOf(tools))
  if (applied?.hours === undefined) return tokens + calls
  // Up to a nano-unit more than the charge, which is rounded once.
  return tokens + (calls * hoursFactor(terms, applied.hours)) / 1_000_000_000n + 1n
}

/** A tool that is named twice may be called as often as both allow. */
function usesOf(tools: readonly ServerTool[]): Record<string, number> {
  const uses: Record<string, number> = {}
  for (const { name, maxUses = unboundUses } of tools) uses[name] = (uses[name] ?? 0) + maxUses
  return uses
}

/** The results of each call go through the model again. */
export function passesOf(tools: readonly ServerTool[] | undefined): number {
  let sum = 0
  if (tools !== undefined) for (const { maxUses = unboundUses } of tools) sum += maxUses
  return sum
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
  return usage.toolCalls === undefined
    ? usage
    : withChargedOf(usage, usage.toolCalls, terms, bounds)
}

function withChargedOf(
  { toolCalls: _, ...tokens }: TokenUsage,
  toolCalls: ToolCalls,
  terms: PriceTerms,
  bounds: Readonly<Record<string, number>> | undefined,
): TokenUsage {
  const rates = ratesOf(terms)
  const charged = Object.entries(toolCalls).flatMap(([name, calls]) => {
    const count = Math.min(calls, bounds?.[name] ?? calls)
    return rates?.[name] === undefined || count === 0 ? [] : [[name, count] as const]
  })
  return charged.length === 0 ? tokens : { ...tokens, toolCalls: Object.fromEntries(charged) }
}

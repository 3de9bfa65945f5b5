// Shared by the usage tests of all styles. Knows no style.
import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Reported } from '../../contract/provider.ts'
import type { ReportedUsage } from '../../contract/usage.ts'

export const usageOf = (
  input: number | undefined,
  output: number | undefined,
  read = 0,
  write = 0,
  hour = 0,
): ReportedUsage => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: read,
  cacheWriteTokens: write,
  ...(hour > 0 && { parts: { cacheWrite1hTokens: hour } }),
})

/** Typical wrong counts of upstreams, and some right ones. */
export const oddCount = fc.oneof(
  fc.nat(300),
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, undefined, '5', true, [], {}, -0, 100_000_000, 100_000_001, 1e300),
)

/** An object with each of the fields present or absent. */
export const someOf = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields, { requiredKeys: [] })

/** For any input, counts are whole and never negative, and cache parts lie inside a known input. */
export function staysSound(read: (raw: unknown) => Reported, raw: fc.Arbitrary<unknown>): void {
  let understood = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: raw }, fc.jsonValue()), (value) => {
      const { usage, raw: kept } = read(value)
      expect(kept).toEqual(value ?? undefined)
      if (usage === undefined) return
      understood++
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
      expect(inputTokens ?? outputTokens).toBeDefined()
      for (const count of [
        inputTokens ?? 0,
        outputTokens ?? 0,
        cacheReadTokens,
        cacheWriteTokens,
      ]) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
      if (inputTokens === undefined) return
      expect(cacheReadTokens + cacheWriteTokens).toBeLessThanOrEqual(inputTokens)
      for (const { cacheWriteTokens: written, parts } of [usage, ...(usage.named ?? [])]) {
        expect(parts?.cacheWrite1hTokens ?? 0).toBeLessThanOrEqual(written)
      }
    }),
    { numRuns: 2_000 },
  )
  expect(understood).toBeGreaterThan(0)
}

// What an explanation adds up to, without the gateway's own arithmetic.
import { expect } from 'bun:test'

export const billionths = (decimal: string): bigint => {
  const [whole = '0', places = ''] = decimal.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(places.padEnd(9, '0'))
}
const one = 1_000_000_000n

/** Lines of other models begin with their names. */
const lineOf = /^(?:(\S+) )?\w+: \d+ x \S+ per million = (\S+)$/
const factorOf =
  /^(?:(\S+) )?(?:hours|service_tier|geo) .+: (?:everything|tokens)(?: of \S+)? x (\S+)$/

/** What the lines of an explanation add up to, each times the factors of its model: rounded as it says. */
export function explainedNanos(
  steps: readonly string[],
  factors: readonly { factor: string }[],
): bigint {
  const models = new Map<string, { sum: bigint; factors: string[] }>()
  const of = (model = '') => {
    const found = models.get(model) ?? { sum: 0n, factors: [] }
    models.set(model, found)
    return found
  }
  for (const step of steps) {
    const [, model, amount] = lineOf.exec(step) ?? []
    if (amount !== undefined) of(model).sum += exactly(amount)
    const [, whose, factor] = factorOf.exec(step) ?? []
    if (factor !== undefined) of(whose).factors.push(factor)
  }
  const [own] = models.values()
  expect(own?.factors ?? []).toEqual(factors.map(({ factor }) => factor))
  let exact = 0n
  for (const { sum, factors: its } of models.values()) {
    const times = its.reduce((total, factor) => total * billionths(factor), sum)
    exact += times * one ** BigInt(3 - its.length)
  }
  const scale = 10_000_000n * one ** 3n
  return (2n * exact + scale) / (2n * scale)
}

const exactly = (text: string): bigint => {
  const [units = '0', places = ''] = text.split('.')
  return BigInt(units + places.padEnd(16, '0'))
}

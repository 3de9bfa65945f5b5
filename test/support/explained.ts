// What an explanation adds up to, without the gateway's own arithmetic.

export const billionths = (decimal: string): bigint => {
  const [whole = '0', places = ''] = decimal.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(places.padEnd(9, '0'))
}
const one = 1_000_000_000n

/** What the lines of an explanation add up to, times its factors: rounded as it says. */
export function explainedNanos(
  steps: readonly string[],
  factors: readonly { factor: string }[],
): bigint {
  const exact = (text: string) => {
    const [units = '0', places = ''] = text.split('.')
    return BigInt(units + places.padEnd(16, '0'))
  }
  const lines = steps.flatMap((line) => / per million = ([\d.]+)$/.exec(line)?.[1] ?? [])
  let sum = lines.reduce((total, line) => total + exact(line), 0n)
  let scale = 10_000_000n
  for (const each of factors) {
    sum *= billionths(each.factor)
    scale *= one
  }
  return (2n * sum + scale) / (2n * scale)
}

// Decimal strings to whole nano-units and back. No float is ever involved.
//   '0.80' -> 800000000n   '-1.5' -> -1500000000n   '1e3', '1.0000000001', '' -> undefined

const pattern = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/

export function parseNanos(text: string): bigint | undefined {
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const nanos = BigInt(parts[2]!) * 1_000_000_000n + BigInt((parts[3] ?? '').padEnd(9, '0'))
  return parts[1] === '-' ? -nanos : nanos
}

/** At least two decimals, no more than needed: 800000000n -> '0.80', 123n -> '0.000000123'. */
export function formatNanos(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = (size % 1_000_000_000n)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}.${fraction}`
}

// Decimal strings to whole nano-units and back. No float is ever involved.
//   '0.80' -> 800000000n   '-1.5' -> -1500000000n   '1e3', '1.0000000001', '' -> undefined

const pattern = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/

export function parseNanos(text: string): bigint | undefined {
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const nanos = BigInt(parts[2]!) * 1_000_000_000n + BigInt((parts[3] ?? '').padEnd(9, '0'))
  return parts[1] === '-' ? -nanos : nanos
}

/** Up to here a double is exact, and costs a third of what a bigint does. */
const exactNanos = 9_000_000_000_000_000n

function formatExact(nanos: number): string {
  const part = nanos % 1_000_000_000
  // The leading 1 keeps the zeros behind the point.
  const digits = String(1_000_000_000 + part)
  let end = digits.length
  while (end > 3 && digits.charCodeAt(end - 1) === 0x30) end--
  return `${(nanos - part) / 1_000_000_000}.${digits.slice(1, end)}`
}

/** At least two decimals, no more than needed: 800000000n -> '0.80', 123n -> '0.000000123'. */
export function formatNanos(nanos: bigint): string {
  if (nanos >= 0n && nanos < exactNanos) return formatExact(Number(nanos))
  const size = nanos < 0n ? -nanos : nanos
  const fraction = (size % 1_000_000_000n)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}.${fraction}`
}

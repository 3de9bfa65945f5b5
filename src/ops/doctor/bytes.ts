// Human-readable sizes.

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** 1234567890 -> '1.2 GB' */
export function formatBytes(bytes: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const amount = bytes / 1000 ** step
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[step]}`
}

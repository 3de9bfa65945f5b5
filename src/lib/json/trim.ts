// Cuts JSON from outside to a size that can be stored: drops long texts, excess entries and depth.

const maxText = 256
const maxEntries = 64
const maxDepth = 6

/** Returns the same value when it is small, which is the usual case. */
export const trimmed = (value: unknown): unknown => (isSmall(value, 0) ? value : cut(value, 0))

function isSmall(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length <= maxText
  if (typeof value !== 'object' || value === null) return true
  if (depth >= maxDepth) return false
  if (Array.isArray(value)) {
    if (value.length > maxEntries) return false
    for (const each of value) if (!isSmall(each, depth + 1)) return false
    return true
  }
  let entries = 0
  for (const name in value) {
    if (++entries > maxEntries || name.length > maxText) return false
    if (!isSmall((value as Record<string, unknown>)[name], depth + 1)) return false
  }
  return true
}

function cut(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return value.length <= maxText ? value : `${value.slice(0, maxText)}…`
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '…'
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((each) => cut(each, depth + 1))
  const kept: Record<string, unknown> = {}
  let entries = 0
  for (const name in value) {
    if (++entries > maxEntries) break
    if (name.length > maxText) continue
    kept[name] = cut((value as Record<string, unknown>)[name], depth + 1)
  }
  return kept
}

// Cuts JSON from outside to a size that can be stored: drops long texts, excess entries and depth.

const maxText = 256
const maxEntries = 64
const maxDepth = 6

/** Returns the same value when it is small, which is the usual case. */
export function trimmed(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return value.length <= maxText ? value : `${value.slice(0, maxText)}…`
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '…'
  return Array.isArray(value) ? trimmedList(value, depth) : trimmedObject(value, depth)
}

function trimmedList(list: readonly unknown[], depth: number): readonly unknown[] {
  const kept = list.slice(0, maxEntries).map((each) => trimmed(each, depth + 1))
  const same = kept.length === list.length && kept.every((each, index) => each === list[index])
  return same ? list : kept
}

function trimmedObject(value: object, depth: number): object {
  let same = true
  let entries = 0
  const kept: Record<string, unknown> = {}
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    if (++entries > maxEntries || name.length > maxText) {
      same = false
      continue
    }
    const small = trimmed(inner, depth + 1)
    same &&= small === inner
    kept[name] = small
  }
  return same ? value : kept
}

// How many objects and lists a parsed JSON text has: what takes time is their number, not their size.

/** Objects and lists; stops counting at the limit. */
export function containersIn(value: object, limit: number): number {
  let count = 1
  const open: object[] = [value]
  for (let next = open.pop(); next !== undefined && count < limit; next = open.pop()) {
    for (const key in next) {
      const inner = (next as Readonly<Record<string, unknown>>)[key]
      if (typeof inner !== 'object' || inner === null) continue
      open.push(inner)
      if (++count >= limit) break
    }
  }
  return count
}

// Names, or prefixes ending in `*`.

export function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}

// Patterns that people type to pick names: `*` stands for any characters, and case does not count.

/** 'gpt-*' -> a test of names; 'openai/*' matches 'openai/gpt-5'. */
export function globOf(pattern: string): (name: string) => boolean {
  const parts = pattern.toLowerCase().split('*')
  const [first = ''] = parts
  if (parts.length === 1) return (name) => name.toLowerCase() === first
  const last = parts.at(-1)!
  const middle = parts.slice(1, -1)
  return (given) => {
    const name = given.toLowerCase()
    if (name.length < first.length + last.length) return false
    if (!name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    for (const part of middle) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at <= name.length - last.length
  }
}

// A flag that is given more than once and takes one value. `parseArgs` would take the last, so that what
// was said first is lost without a word.

interface Token {
  kind: string
  name?: string
}

/** The name of the first such flag; `parseArgs` gives the tokens with `tokens: true`. */
export function repeatedFlag(
  tokens: readonly Token[],
  options: Readonly<Record<string, { type: string; multiple?: boolean }>>,
): string | undefined {
  const seen = new Set<string>()
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || options[name]?.multiple === true) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

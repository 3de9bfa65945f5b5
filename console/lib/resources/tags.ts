// Tags as people type and read them: `job=7, team=red`.

export const tagsText = (tags: Readonly<Record<string, string>>): string =>
  tagPairs(tags).join(', ')

export const tagPairs = (tags: Readonly<Record<string, string>>): string[] =>
  Object.entries(tags).map(([name, value]) => `${name}=${value}`)

/** What was typed; the gateway says what is wrong with it. */
export const tagsFrom = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim(), value.join('=').trim()]
    }),
  )

// What the sandbox says: short sentences, chosen by a seed, as a list of tokens. Knows no protocol.
import { splitTokens } from './tokens.ts'

const sentences = [
  'The morning light moves slowly over the quiet harbour.',
  'A good answer is short, kind and easy to check.',
  'Two sparrows share the last crumbs on the window sill.',
  'The gardener waters the roses before the sun is high.',
  'Every path through the forest leads to the same clear lake.',
  'Fresh bread and warm tea make a fine start to the day.',
  'The old clock in the hall still keeps perfect time.',
  'Rain on the roof is the best music for a slow afternoon.',
  'A small boat can cross a wide river with patience.',
  'The library stays open late, and the lamps glow softly.',
  'Children fly bright paper kites along the beach.',
  'Somewhere a friend is writing a long and cheerful letter.',
  'The train arrives on time and leaves with a gentle hum.',
  'Stars look closer on cold nights, when the air is still.',
  'Honest work and good tools solve most of the problem.',
  'The cat sleeps in the sunny corner and dreams of fish.',
  'A careful plan leaves room for one pleasant surprise.',
  'Fields of barley bend and shine in the evening wind.',
  'The baker hums a tune while the ovens warm up.',
  'Simple words carry far when they are well chosen.',
].map((sentence) => splitTokens(` ${sentence}`))

const wordTokens = sentences.map((tokens) => tokens.filter((token) => /\w/.test(token)))

/** A stream of numbers in [0, 1) that a seed fixes (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Exactly `count` tokens, or whole sentences of 30 to 60 tokens when no count is asked for. A
 * `lead` of plain words comes first, as a sentence of its own.
 */
export function writeProse(seed: number, count: number | undefined, lead = ''): string[] {
  const random = randomFrom(seed)
  const enough = count ?? 30 + Math.floor(random() * 15)
  const tokens = gather(sentences, random, enough, lead === '' ? '' : `${lead}.`)
  return count === undefined ? tokens : tokens.slice(0, count)
}

/** The same as a small JSON object. Its text holds words only: a full stop would melt into the
 * closing quote and the count would be one off. */
export function writeJsonProse(seed: number, count: number | undefined, lead = ''): string[] {
  const random = randomFrom(seed)
  const frame = 4 // `{"`, `answer`, `":"` and the closing `"}`
  const words = Math.max((count ?? 20) - frame, 1)
  const text = gather(wordTokens, random, words, lead).slice(0, words).join('')
  const tokens = splitTokens(JSON.stringify({ answer: text }))
  return tokens.slice(0, count ?? tokens.length)
}

function gather(
  source: readonly (readonly string[])[],
  random: () => number,
  enough: number,
  lead: string,
): string[] {
  const tokens = [...splitTokens(lead)]
  let last = -1
  while (tokens.length < enough) {
    let next = Math.floor(random() * source.length)
    if (next === last) next = (next + 1) % source.length
    last = next
    tokens.push(...source[next]!)
  }
  if (tokens[0] !== undefined) tokens[0] = tokens[0].trimStart()
  return tokens
}

// A converted price list as YAML that a person reads and edits: a line for each model and price, and what
// was left out as comments. Parsed again by `price import`.
import type { Converted } from '../../contract/price-sources/convert.ts'
import { printable } from '../terminal/show.ts'

export const writeList = (
  { models, prices, remarks }: Converted,
  heading: readonly string[],
): string =>
  [
    ...[...heading, ...remarks].map((line) => `# ${comment(line)}`),
    'models:',
    ...models.map((model) => `  - ${flow(model)}`),
    'prices:',
    ...prices.map((price) => `  - ${flow(price)}`),
  ].join('\n')

/** Names come from a file of others: one line, and nothing for the terminal. */
const comment = (text: string): string => printable(text).replaceAll(/\s+/g, ' ')

/** Texts are always quoted: a name such as 1e3 or on would be read as something else. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, part]) => `${key}: ${flow(part)}`)
  return `{ ${pairs.join(', ')} }`
}

// A channel as the admin API shows it, and the lines of text a form edits it in.
import type {
  Channel as ChannelAnswer,
  ChannelTest,
} from '../../../src/admin/catalog/channel-schema.ts'

/** A test that never reached the gateway has no latency. */
export type TestResult = Omit<ChannelTest, 'latency_ms'> & Partial<ChannelTest>

/** A channel that is in service has its health with it. */
export type Channel = ChannelAnswer & Required<Pick<ChannelAnswer, 'health'>>

export const errorText = ({ error = '' }: TestResult): string => error

export const linesOf = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')

/** The number of the first line that cannot be read, or the pairs. */
export function pairsOf(text: string): Record<string, string> | number {
  const pairs: Record<string, string> = {}
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) return i + 1
    pairs[name] = value
  }
  return pairs
}

// What the output goes to: whether it shows colours, and how wide it is. Set once, by main, before a command runs;
// until then, and wherever the output is a file or a pipe, it is plain and as wide as it needs to be.

type Env = Readonly<Record<string, string | undefined>>

export interface Screen {
  colour: boolean
  /** Columns of the terminal; absent: no limit. */
  width?: number
}

interface Stream {
  isTTY?: boolean
  columns?: number
}

/** Colours only on a terminal that shows them, and only for people who want them (no-color.org). */
export function screenOf({ isTTY, columns }: Stream, env: Env): Screen {
  if (isTTY !== true) return { colour: false }
  const colour = !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return { colour, ...(columns !== undefined && columns > 0 && { width: columns }) }
}

let output: Screen = { colour: false }

export const screen = (): Screen => output

export const useScreen = (next: Screen): void => {
  output = next
}

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] }
type Tone = keyof typeof codes

/** Text in a colour, where there are colours. */
export function paint(text: string, tone: Tone | undefined, { colour }: Screen = output): string {
  if (!colour || tone === undefined || text === '') return text
  const [on, off] = codes[tone] as [number, number]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

const tones: Readonly<Record<string, Tone>> = {
  ...toned('green', [
    'ok',
    'good',
    'active',
    'succeeded',
    'completed',
    'delivered',
    'ready',
    'exact',
  ]),
  ...toned('yellow', [
    'degraded',
    'probing',
    'pending',
    'queued',
    'running',
    'draining',
    'disabled',
  ]),
  ...toned('red', ['failed', 'down', 'rejected', 'suspended', 'expired', 'cancelled', 'revoked']),
}

function toned(tone: Tone, words: readonly string[]): Record<string, Tone> {
  return Object.fromEntries(words.map((word) => [word, tone]))
}

/** The colour of a state or of an HTTP status. */
export function toneOf(value: string): Tone | undefined {
  if (/^[1-5]\d\d$/.test(value)) return value < '300' ? 'green' : value < '500' ? 'yellow' : 'red'
  return Object.hasOwn(tones, value) ? tones[value] : undefined
}

// Pages of help, made from the table of commands. Nothing here is written twice.
import { paint } from '../screen/screen.ts'
import { type Command, commonFlags, type Flags } from './command.ts'
import type { Elsewhere } from './parse-line.ts'

export function helpPage(
  words: readonly string[],
  table: readonly Command[],
  elsewhere: readonly Elsewhere[],
): string {
  const exact = table.find((row) => row.path.join(' ') === words.join(' '))
  if (exact !== undefined) return commandPage(exact)
  const group = table.filter((row) => words.length > 0 && row.path[0] === words[0])
  if (group.length > 0) {
    return page('Usage: gateway COMMAND [FLAGS]', section('Commands', group.map(commandLine)))
  }
  const other = elsewhere.find((row) => row.name === words[0])
  if (other !== undefined) return elsewherePage(other)
  return page(
    'Usage: gateway COMMAND [FLAGS]',
    section('Commands', [
      ...elsewhere.map(
        ({ name, args = [], summary }): Pair => [[name, ...args].join(' '), summary],
      ),
      ...table.map(commandLine),
    ]),
    section('Flags of every command', flagLines(commonFlags)),
    section('Exit codes', [
      ['0', 'done'],
      ['1', 'refused by the gateway, or the answer is "not ok"'],
      ['2', 'wrong usage'],
      ['69', 'gateway not reachable'],
    ]),
    'gateway COMMAND --help tells the flags of a command.',
  )
}

function commandPage(command: Command): string {
  const words = ['gateway', ...command.path, ...command.args]
  for (const [name, flag] of Object.entries(command.flags)) {
    if (flag.required) words.push(`--${name}`, flag.value ?? '')
  }
  const own = flagLines(command.flags)
  return page(
    `Usage: ${words.join(' ')} [FLAGS]`,
    sentence(command.summary),
    ...(own.length === 0 ? [] : [section('Flags', own)]),
    section('Flags of every command', flagLines(commonFlags)),
  )
}

/** These commands need no running gateway, so the flags that name one are not theirs. */
const elsewherePage = ({ name, args = [], summary, flags, more }: Elsewhere): string =>
  page(
    `Usage: ${['gateway', name, ...args].join(' ')} [FLAGS]`,
    sentence(summary),
    ...(more === undefined ? [] : [more]),
    section('Flags', flagLines(flags)),
  )

type Pair = readonly [string, string]

const page = (...parts: readonly string[]) => parts.join('\n\n')

const sentence = (summary: string) => `${summary[0]?.toUpperCase()}${summary.slice(1)}.`

const commandLine = (row: Command): Pair => [[...row.path, ...row.args].join(' '), row.summary]

const flagLines = (flags: Flags): Pair[] =>
  Object.entries(flags).map(([name, { value, many, summary }]) => {
    const left = value === undefined ? `--${name}` : `--${name} ${value}`
    return [left, many ? `${summary} (may be repeated)` : summary]
  })

/** Of the left column; what follows a longer text goes to a line of its own. */
const maxLeft = 44

function section(title: string, pairs: readonly Pair[]): string {
  const widths = pairs.map(([left]) => left.length).filter((width) => width <= maxLeft)
  const width = Math.max(0, ...widths)
  return [
    paint(title, 'bold'),
    ...pairs.flatMap(([left, right]) =>
      left.length <= maxLeft
        ? [`  ${left.padEnd(width)}  ${right}`]
        : [`  ${left}`, `  ${' '.repeat(width)}  ${right}`],
    ),
  ].join('\n')
}

// Pages of help, made from the table of commands. Nothing here is written twice.
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
  const others = elsewhere.filter((row) => words.length === 0 || row.name === words[0])
  const here = words.length === 0 ? table : []
  return page(
    'Usage: gateway COMMAND [FLAGS]',
    section('Commands', [
      ...others.map(({ name, summary }): Pair => [name, summary]),
      ...here.map(commandLine),
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

type Pair = readonly [string, string]

const page = (...parts: readonly string[]) => parts.join('\n\n')

const sentence = (summary: string) => `${summary[0]?.toUpperCase()}${summary.slice(1)}.`

const commandLine = (row: Command): Pair => [[...row.path, ...row.args].join(' '), row.summary]

const flagLines = (flags: Flags): Pair[] =>
  Object.entries(flags).map(([name, { value, many, summary }]) => {
    const left = value === undefined ? `--${name}` : `--${name} ${value}`
    return [left, many ? `${summary} (may be repeated)` : summary]
  })

function section(title: string, pairs: readonly Pair[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return [title, ...pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n')
}

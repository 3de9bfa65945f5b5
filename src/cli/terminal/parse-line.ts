// From the words after `gateway` to a command with its values, or to a page of help.
// It knows the table it is given and no command by name.
import { parseArgs } from 'node:util'
import { repeatedFlag } from '../../lib/repeated-flag.ts'
import { type Command, commonFlags, type Flags } from './command.ts'
import { Line, type Values } from './line.ts'
import { nearest } from './nearest.ts'
import { misuse, Stop } from './stop.ts'

type Parsed =
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'run'; command: Command; line: Line }

/** Known first words that another program answers; needed to suggest, explain and complete them. */
export interface Elsewhere {
  name: string
  args?: readonly string[]
  summary: string
  flags: Flags
  /** What else its page of help says. */
  more?: string
}

export function parseLine(
  argv: readonly string[],
  table: readonly Command[],
  elsewhere: readonly Elsewhere[],
): Parsed {
  const args = argv[0] === '--version' ? ['version', ...argv.slice(1)] : commandFirst(argv)
  const words = leadingWords(args)
  if (words[0] === undefined || words[0] === 'help') {
    const topic = words.slice(1)
    checkKnown(topic, table, elsewhere)
    if (words.length < args.length) parseFlags(args.slice(words.length), commonFlags, 'help')
    return { kind: 'help', words: topic }
  }
  const command = table
    .filter((row) => row.path.every((word, i) => word === words[i]))
    .sort((a, b) => b.path.length - a.path.length)[0]
  if (command === undefined) {
    checkKnown(words, table, elsewhere)
    if (asksForHelp(args)) return { kind: 'help', words }
    if (elsewhere.some(({ name }) => name === words[0])) {
      const [given] = args.slice(1)
      throw misuse(`${words[0]} does not take '${given}'; see gateway ${words[0]} --help`)
    }
    const next = table.filter((row) => row.path[0] === words[0]).map((row) => row.path[1])
    throw misuse(`${words[0]} needs one of: ${next.join(', ')}`)
  }
  const rest = args.slice(command.path.length)
  if (asksForHelp(rest)) return { kind: 'help', words: command.path }
  return { kind: 'run', command, line: lineOf(command, rest) }
}

/** `--json token list` -> `token list --json`: common flags may stand before the command. */
function commandFirst(argv: readonly string[]): readonly string[] {
  let start = 0
  while (argv[start]?.startsWith('-')) {
    const flag = commonFlags[argv[start]!.slice(2)]
    start += flag?.value === undefined ? 1 : 2
  }
  const rest = argv.slice(start)
  const words = leadingWords(rest)
  return [...words, ...argv.slice(0, start), ...rest.slice(words.length)]
}

function leadingWords(args: readonly string[]): readonly string[] {
  const end = args.findIndex((arg) => arg.startsWith('-'))
  return end === -1 ? args : args.slice(0, end)
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const flags = end === -1 ? args : args.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

/** Refuses words that begin no command, naming the one probably meant. */
function checkKnown(
  words: readonly string[],
  table: readonly Command[],
  elsewhere: readonly Elsewhere[],
) {
  const [first, second] = words
  if (first === undefined) return
  const firsts = [...new Set(table.map((row) => row.path[0]!)), ...elsewhere.map((e) => e.name)]
  if (!firsts.includes(first)) {
    const hint = suggestion(first, firsts, '')
    throw misuse(`unknown command '${first}'${hint || '; see gateway help'}`)
  }
  const seconds = table.flatMap((row) => (row.path[0] === first ? row.path.slice(1, 2) : []))
  if (second === undefined || seconds.length === 0 || seconds.includes(second)) return
  const hint = suggestion(second, seconds, `${first} `)
  throw misuse(`unknown command '${first} ${second}'${hint || `; known: ${seconds.join(', ')}`}`)
}

function suggestion(word: string, known: readonly string[], before: string): string {
  const meant = nearest(word, known)
  return meant === undefined ? '' : `; did you mean '${before}${meant}'?`
}

function lineOf(command: Command, args: readonly string[]): Line {
  const name = command.path.join(' ')
  const { values, positionals } = parseFlags(args, { ...command.flags, ...commonFlags }, name)
  const missingArg = command.args[positionals.length]
  if (missingArg !== undefined && !missingArg.startsWith('['))
    throw misuse(`${name} needs ${missingArg}; see gateway ${name} --help`)
  const extra = positionals[command.args.length]
  if (extra !== undefined) {
    throw misuse(`${name} does not take '${extra}'; a text with spaces needs quotes`)
  }
  for (const [flag, { required }] of Object.entries(command.flags)) {
    if (required && values[flag] === undefined) {
      throw misuse(`${name} needs --${flag}; see gateway ${name} --help`)
    }
  }
  return new Line(values, positionals)
}

// parseArgs takes '-5.00' for a flag. A mark in front hides the dash from it.
const mark = '\0'
const hideNumber = (arg: string) => (/^-\.?\d/.test(arg) ? mark + arg : arg)
const showNumber = (arg: string) => (arg.startsWith(mark) ? arg.slice(1) : arg)

function parseFlags(
  args: readonly string[],
  flags: Flags,
  name: string,
): { values: Values; positionals: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(flags).map(([flag, { value, many }]) => [
      flag,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: many === true,
        ...(flag === 'help' ? { short: 'h' } : {}),
      },
    ]),
  )
  try {
    const { values, positionals, tokens } = parseArgs({
      args: args.map(hideNumber),
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
    const repeated = repeatedFlag(tokens, options)
    if (repeated !== undefined) {
      const isList = flags[repeated]?.value?.includes(',') === true
      const hint = isList ? '; separate several values with commas' : ', and it takes one value'
      throw misuse(`--${repeated} is given twice${flags[repeated]?.value ? hint : ''}`)
    }
    const shown: Record<string, Values[string]> = {}
    for (const [flag, value] of Object.entries(values)) {
      if (Array.isArray(value)) shown[flag] = value.map(String).map(showNumber)
      else shown[flag] = typeof value === 'string' ? showNumber(value) : value
    }
    return { values: shown, positionals: positionals.map(showNumber) }
  } catch (error) {
    if (error instanceof Stop) throw error
    throw misuse(flagSentence(error, flags, name))
  }
}

/** parseArgs tells the flag only inside its message, always quoted first. */
function flagSentence(error: unknown, flags: Flags, name: string): string {
  const { code, message } = error as { code?: string; message: string }
  const flag = /'(--?[^' ]*)/.exec(message)?.[1]
  if (flag === undefined) return message
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const meant = nearest(flag.replace(/^-+/, ''), Object.keys(flags))
    const hint = meant === undefined ? `see gateway ${name} --help` : `did you mean --${meant}?`
    return `unknown flag ${flag}; ${hint}`
  }
  const takesValue = flags[flag.slice(2)]?.value
  if (takesValue === undefined) return `${flag} takes no value`
  return `${flag} needs a value; one that begins with a dash is written ${flag}=-VALUE`
}

// gateway check: whether a gateway would accept a configuration file, for CI. Needs no database, no
// upstream and none of the secrets that the file takes from the environment.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type FileProblem, placeIn, problemLine, readConfigFile } from '../config/file.ts'
import { environment, limits } from '../config/index.ts'
import { readOffer } from './doctor/offer.ts'

const usage = `Usage: gateway check [FILE] [FLAGS]

Says whether a gateway would take FILE (gateway.yaml, if none is named), one line per problem as
FILE:LINE:COLUMN: what is wrong. Variables that are not set, and files of secrets that cannot be read,
are only warned of: CI has no secrets.

Flags
  --strict  a variable that is not set, or a file that cannot be read, is a problem
  --json    print the outcome as JSON and nothing else
  --help    show this

Exit codes
  0   a gateway would take it
  2   wrong usage
  78  it would not
`

const exitCodes = { good: 0, misused: 2, wrong: 78 } as const

interface ShownProblem extends Omit<FileProblem, 'line' | 'column'> {
  line?: number
  column?: number
}

interface Outcome {
  ok: boolean
  file: string
  problems: readonly ShownProblem[]
  warnings: readonly ShownProblem[]
}

async function check(path: string, text: string, isStrict: boolean): Promise<Outcome> {
  const { value, problems } = readConfigFile(text, path, environment())
  const isSoft = ({ unset }: FileProblem) => unset !== undefined && !isStrict
  const inOrder = problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const wrong: ShownProblem[] = inOrder.filter((problem) => !isSoft(problem))
  const warnings: ShownProblem[] = inOrder.filter(isSoft)
  if (value !== undefined) {
    const { unpriced, unknown, misfits, idle, strayTokens } = await readOffer(value)
    wrong.push(...misfits.map(({ says, at }) => ({ message: says, ...placeIn(text, at) })))
    for (const { channel, model } of unknown) {
      warnings.push({ message: `channel '${channel}' serves ${model}, which is no model here` })
    }
    for (const model of unpriced) {
      warnings.push({ message: `a channel serves ${model}, which has no price here` })
    }
    for (const { says, advice } of idle) warnings.push({ message: `${says}; ${advice}` })
    if (value.callbacks !== undefined) {
      const message =
        'callbacks.secret is used for all accounts: a tenant who knows it can forge notices to others'
      warnings.push({ message })
    }
    for (const { index, account, name } of strayTokens) {
      const message =
        `token '${name}' names the account '${account}', which is not declared here; ` +
        'a start is refused unless the database has it'
      warnings.push({ message, ...placeIn(text, ['tokens', index, 'account']) })
    }
  }
  return { ok: wrong.length === 0, file: path, problems: wrong, warnings }
}

function outcomeText({ file, problems, warnings }: Outcome): string {
  const lineOf = ({ line, column, message }: ShownProblem) =>
    line === undefined || column === undefined
      ? `${file}: ${message}`
      : problemLine(file, { line, column, message })
  const lines = [
    ...problems.map(lineOf),
    ...warnings.map((warning) => lineOf({ ...warning, message: `warning: ${warning.message}` })),
    ...(problems.length === 0 ? [`${file}: ok`] : []),
  ]
  return `${lines.join('\n')}\n`
}

async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      strict: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return exitCodes.good
  }
  const [path = 'gateway.yaml', ...more] = positionals
  if (more.length > 0) return misused('one file at a time')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return misused(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (text.length > limits.configBytes) {
    return misused(`${path} is larger than ${limits.configBytes} bytes`)
  }
  const outcome = await check(path, text, values.strict)
  const json = `${JSON.stringify(outcome, null, 2)}\n`
  process.stdout.write(values.json ? json : outcomeText(outcome))
  return outcome.ok ? exitCodes.good : exitCodes.wrong
}

function misused(sentence: string): number {
  process.stderr.write(`gateway: ${sentence}\n`)
  return exitCodes.misused
}

run(process.argv.slice(3)).then(
  (code) => {
    process.exitCode = code
  },
  (error: Error & { code?: string }) => {
    const isMisuse = error.code?.startsWith('ERR_PARSE_ARGS') === true
    process.stderr.write(`gateway: ${isMisuse ? error.message : (error.stack ?? error)}\n`)
    process.exitCode = isMisuse ? exitCodes.misused : 1
  },
)

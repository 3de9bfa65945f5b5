// The command line: reads the environment, runs one command, prints its outcome, sets the exit
// code. The only file here that touches the process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAddress } from '../lib/address-file.ts'
import { commands, elsewhere } from './commands.ts'
import { paint, screenOf, useScreen } from './screen/screen.ts'
import { openAdmin } from './terminal/admin-client.ts'
import type { Env } from './terminal/command.ts'
import { helpPage } from './terminal/help.ts'
import { parseLine } from './terminal/parse-line.ts'
import { exitCodes, misuse, Stop } from './terminal/stop.ts'

async function runCommand(argv: readonly string[], env: Env): Promise<number> {
  useScreen(screenOf(process.stdout, env))
  const parsed = parseLine(argv, commands, elsewhere)
  if (parsed.kind === 'help') {
    process.stdout.write(`${helpPage(parsed.words, commands, elsewhere)}\n`)
    return exitCodes.ok
  }
  const { command, line } = parsed
  const url = baseUrl(line.text('url'), env)
  const json = line.on('json')
  const outcome = await command.run({
    line,
    admin: openAdmin(url, () => adminToken(line.text('admin-token'), env)),
    url,
    env,
    json,
    write: (text) => process.stdout.write(text),
  })
  if (json) process.stdout.write(`${JSON.stringify(outcome.answer, null, 2)}\n`)
  else if (outcome.text !== '') process.stdout.write(`${outcome.text}\n`)
  if (!json && outcome.note !== undefined) process.stderr.write(`${dim(outcome.note, env)}\n`)
  return outcome.ok === false ? exitCodes.refused : exitCodes.ok
}

const dataDir = (env: Env): string => env['GATEWAY_DATA_DIR'] || './data'
const defaultUrl = 'http://localhost:8080'

/** What is said comes first, then what a gateway with this data directory has left there. */
function baseUrl(flag: string | undefined, env: Env): string {
  const port = env['GATEWAY_ADMIN_PORT'] || env['GATEWAY_PORT']
  const own = port && port !== '0' ? `http://localhost:${port}` : undefined
  const text = flag ?? (env['GATEWAY_URL'] || (own ?? readAddress(dataDir(env)) ?? defaultUrl))
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw misuse(`'${text}' is not an http address; see --url, GATEWAY_URL and GATEWAY_PORT`)
  }
  return text.replace(/\/+$/, '')
}

function adminToken(flag: string | undefined, env: Env): string | undefined {
  const given = flag ?? env['GATEWAY_ADMIN_TOKEN']
  if (given) return given
  const file = join(dataDir(env), 'admin-token')
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw misuse(`cannot read the admin token in ${file} (${code}); give --admin-token`)
  }
}

/** An aside and a refusal go to stderr, so it is stderr that must be a terminal. */
const dim = (text: string, env: Env): string => paint(text, 'dim', screenOf(process.stderr, env))

// `gateway request list | head` closes the pipe early, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

runCommand(process.argv.slice(2), process.env).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (!(error instanceof Stop)) throw error
    const name = paint('gateway:', 'red', screenOf(process.stderr, process.env))
    process.stderr.write(`${name} ${error.message}\n`)
    process.exitCode = error.exitCode
  },
)

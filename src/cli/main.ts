// The command line: reads the environment, runs one command, prints its outcome, sets the exit
// code. The only file here that touches the process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands, elsewhere } from './commands.ts'
import { openAdmin } from './terminal/admin-client.ts'
import type { Env } from './terminal/command.ts'
import { helpPage } from './terminal/help.ts'
import { parseLine } from './terminal/parse-line.ts'
import { exitCodes, misuse, Stop } from './terminal/stop.ts'

async function runCommand(argv: readonly string[], env: Env): Promise<number> {
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

function baseUrl(flag: string | undefined, env: Env): string {
  const port = env['GATEWAY_ADMIN_PORT'] || env['GATEWAY_PORT'] || '8080'
  const text = flag ?? (env['GATEWAY_URL'] || `http://localhost:${port}`)
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw misuse(`'${text}' is not an http address; see --url, GATEWAY_URL and GATEWAY_PORT`)
  }
  return text.replace(/\/+$/, '')
}

function adminToken(flag: string | undefined, env: Env): string | undefined {
  const given = flag ?? env['GATEWAY_ADMIN_TOKEN']
  if (given) return given
  const file = join(env['GATEWAY_DATA_DIR'] || './data', 'admin-token')
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw misuse(`cannot read the admin token in ${file} (${code}); give --admin-token`)
  }
}

/** An aside goes to stderr, so it is stderr that must be a terminal. */
const dim = (text: string, env: Env): string =>
  process.stderr.isTTY && !env['NO_COLOR'] ? `\u001b[2m${text}\u001b[22m` : text

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
    process.stderr.write(`gateway: ${error.message}\n`)
    process.exitCode = error.exitCode
  },
)

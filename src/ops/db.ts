// gateway restore and gateway db copy: the two commands that open a database themselves, while no
// gateway uses it. Both end with an audit of what they wrote.
import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { auditBooks } from '../billing/proof/audit.ts'
import { type Config, ConfigError, loadConfig, loadConfigWith } from '../config/index.ts'
import { repeatedFlag } from '../lib/repeated-flag.ts'
import { gunzipLines } from '../lib/text/gzip-lines.ts'
import { besideDatabase, openStore, type Store, StoreRefused } from '../store/index.ts'
import { backupLines, readHead, restoreLines } from '../store/maintenance/backup.ts'
import { newestKnown } from '../store/migrations/index.ts'

const usage = `gateway restore FILE
  Puts a backup into the database that the environment names (GATEWAY_DATABASE_URL, or a file in
  GATEWAY_DATA_DIR). The database must be new.

gateway db copy --to postgres://…
  Copies the database that the environment names into another, which must be new. No gateway may
  be running on either.
`

const misused = 2
const refused = 78
const unclean = 1

type Place = Pick<Config, 'dataDir'> & { databaseUrl?: string }

async function run(argv: readonly string[]): Promise<number> {
  const options = { to: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options,
    tokens: true,
  })
  if (repeatedFlag(tokens, options) !== undefined) {
    process.stderr.write('gateway: --to is given twice, and it takes one value\n')
    return misused
  }
  const [word, second, ...more] = positionals
  if (values.help === true) return say(usage)
  // Restored files are for this user only, as everything a gateway writes.
  process.umask(0o077)
  if (word === 'restore' && second !== undefined && more.length === 0) return restore(second)
  const copies = word === 'db' && second === 'copy' && more.length === 0
  if (copies && values.to !== undefined) return copy(values.to)
  process.stderr.write(usage)
  return misused
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

async function restore(file: string): Promise<number> {
  const target = placeOf(loadConfig())
  const lines = linesOf(gunzipLines(readable(file)), file)
  return fillFrom(lines, target, file)
}

async function copy(to: string): Promise<number> {
  const from = placeOf(loadConfig())
  const target = placeOf(loadConfigWith(to))
  if (from.databaseUrl === target.databaseUrl) {
    throw new StoreRefused('--to names the database that would be copied.')
  }
  const source = await openStore(from)
  try {
    return await fillFrom(
      linesOf(split(backupLines(source, source.clock.nowMs())), nameOf(from)),
      target,
      nameOf(from),
    )
  } finally {
    await source.close()
  }
}

/** At the schema of the backup first: later migrations then convert its rows. */
async function fillFrom(
  { head, lines }: { head: Promise<number>; lines: AsyncGenerator<string> },
  target: Place,
  source: string,
): Promise<number> {
  const schema = await head
  if (schema > newestKnown) {
    throw new StoreRefused(`${source} was made by a newer gateway; restore it with that one.`)
  }
  const empty = await openStore({ ...target, schema })
  const rows = await restoreLines(empty, lines).finally(() => empty.close())
  // The files beside an earlier database here no longer apply.
  if (target.databaseUrl === undefined) {
    for (const name of besideDatabase) rmSync(join(target.dataDir, name), { force: true })
  }
  process.stdout.write(`${source} -> ${nameOf(target)}: ${rows} rows\n`)
  const store = await openStore(target)
  return audited(store).finally(() => store.close())
}

async function audited(store: Store): Promise<number> {
  const { ok, accounts, entries, problems } = await auditBooks(store)
  process.stdout.write(`audit: ${ok ? 'ok' : 'NOT OK'}, ${accounts} accounts, ${entries} entries\n`)
  for (const { account, ref, problem } of problems) {
    process.stdout.write(`  ${account ?? ref ?? ''}: ${problem}\n`)
  }
  return ok ? 0 : unclean
}

/** The schema comes in the first line, before anything can be written. */
function linesOf(lines: AsyncGenerator<string>, name: string) {
  const first = lines.next()
  const head = first.then(
    ({ value }) => {
      const found = value === undefined ? undefined : readHead(value)
      if (found === undefined) throw new StoreRefused(`${name} is not a backup of a gateway.`)
      return found.schema
    },
    (error: Error) => {
      throw new StoreRefused(`${name} cannot be read: ${error.message}.`)
    },
  )
  async function* all(): AsyncGenerator<string> {
    const { value } = await first
    if (value !== undefined) yield value
    try {
      yield* lines
    } catch (error) {
      if (error instanceof StoreRefused) throw error
      throw new StoreRefused(`${name} is damaged: ${(error as Error).message}.`)
    }
  }
  return { head, lines: all() }
}

async function* split(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* chunk.slice(0, -1).split('\n')
}

const readable = (file: string): AsyncIterable<Uint8Array> => createReadStream(file)

const placeOf = ({ dataDir, databaseUrl }: Config): Place =>
  databaseUrl === undefined ? { dataDir } : { dataDir, databaseUrl }

const nameOf = ({ dataDir, databaseUrl }: Place): string =>
  databaseUrl === undefined ? dataDir : `PostgreSQL ${new URL(databaseUrl).pathname.slice(1)}`

run(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error & { code?: string }) => {
    const isMisuse = error.code?.startsWith('ERR_PARSE_ARGS') === true
    const isKnown = [ConfigError, StoreRefused].some((kind) => error instanceof kind) || isMisuse
    process.stderr.write(`gateway: ${isKnown ? error.message : (error.stack ?? error)}\n`)
    process.exit(isMisuse ? misused : isKnown ? refused : 1)
  },
)

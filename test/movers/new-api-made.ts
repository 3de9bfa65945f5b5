// Databases of new-api: made by its own code where that is wanted and can be built, else by the tables that this
// repository knows. Only on request, because it downloads and builds for minutes: TEST_MOVERS=1.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/gateway.ts'
import type { OwnDatabase } from './move.ts'
import { statements, structs, writeSqlite } from './new-api-tables.ts'

/** The newest whose module its registry has. */
const version = 'v0.10.0'
/** Made by later versions. */
const later = ['user_subscriptions']

const isWanted = process.env['TEST_MOVERS'] === '1' && Bun.which('go') !== null
if (!isWanted) console.error("left out: databases made by new-api's own code (TEST_MOVERS=1, Go)")

let program: string | undefined

/** The program that makes them; undefined where this repository's tables stand in. */
function builtProgram(): string | undefined {
  if (!isWanted || program !== undefined) return program
  const home = tempDir()
  cpSync(join(import.meta.dir, 'new-api/main.go'), join(home, 'main.go'))
  run(home, ['go', 'mod', 'init', 'rehearsal'])
  run(home, ['go', 'get', `github.com/QuantumNous/new-api/model@${version}`])
  run(home, ['go', 'build', '-o', 'make', '.'])
  program = join(home, 'make')
  return program
}

export function makeSqlite(path: string, base: string): void {
  const made = builtProgram()
  if (made !== undefined) run(tempDir(), [made], { SQLITE_PATH: path }, structs(base))
  writeSqlite(path, base, made === undefined ? undefined : later)
}

export async function fillPostgres(database: OwnDatabase, base: string): Promise<void> {
  const made = builtProgram()
  if (made !== undefined) run(tempDir(), [made], { SQL_DSN: database.url }, structs(base))
  await database.run(statements(base, 'postgres', made === undefined ? undefined : later))
}

function run(cwd: string, command: string[], env: Record<string, string> = {}, input = ''): void {
  const { success, stdout, stderr } = Bun.spawnSync(command, {
    ...{ cwd, stdin: Buffer.from(input) },
    env: { ...process.env, GOTOOLCHAIN: 'local', ...env },
  })
  if (!success) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
}

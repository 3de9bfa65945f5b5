// The schema of LiteLLM's own package, from its registry: the migrations that its proxy applies. Only on
// request, because it downloads: TEST_MOVERS=1, or the folder where the package is already, as in CI.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/gateway.ts'
import { createTables } from './litellm-tables.ts'

const wanted = process.env['TEST_MOVERS'] ?? ''
if (wanted === '') {
  console.error("left out: LiteLLM's own migrations (TEST_MOVERS=1, which downloads them)")
}

const packageName = 'litellm-proxy-extras'

/** Statements that make its tables; those that this repository knows unless the real ones are wanted. */
export function schemaStatements(): string[] {
  if (wanted === '') return [createTables]
  const dir = tempDir()
  const from = wanted === '1' ? dir : wanted
  if (wanted === '1') {
    run('-m', 'pip', 'download', '--quiet', '--no-deps', packageName, '--dest', dir)
  }
  const wheel = readdirSync(from).find((name) => name.endsWith('.whl'))!
  run('-m', 'zipfile', '-e', join(from, wheel), dir)
  const migrations = join(dir, 'litellm_proxy_extras', 'migrations')
  return readdirSync(migrations)
    .sort()
    .map((name) => join(migrations, name, 'migration.sql'))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8').replaceAll('CONCURRENTLY', ''))
}

function run(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['python3', ...args])
  if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
}

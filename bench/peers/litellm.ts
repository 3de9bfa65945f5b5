// LiteLLM's proxy, from the Python package index into a virtual environment in the temp directory: one
// worker, the settings that its documentation names for production, and a PostgreSQL of its own for its
// spend log where its database client can be had.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../lib/children.ts'
import { hasPostgresPrograms, type OwnPostgres, startBenchPostgres } from '../lib/postgres.ts'
import { treeOf } from '../lib/proc.ts'
import { freePort, type Target, type Workspace } from '../lib/targets.ts'
import type { Charging, MakePeer } from './peer.ts'

const version = '1.102.4'
const masterKey = 'sk-bench-0123456789abcdef'
const model = 'bench-model'
const startMs = 180_000
const installMs = 600_000
const generateMs = 120_000
const costPerToken = 0.000001
/** With 64 at once hardly one ends within ten seconds on two cores. */
const maxStreams = 4

const run = (command: string[], timeoutMs: number, env = {}) =>
  Bun.spawnSync(command, { timeout: timeoutMs, env: { ...Bun.env, ...env } })

function install(dir: string): string {
  const python = Bun.which('python3')
  if (python === null) throw new Error('python3 is not installed')
  const made = run([python, '-m', 'venv', dir], installMs)
  if (!made.success)
    throw new Error(`python3 -m venv failed (apt-get install python3-venv): ${made.stderr}`)
  const pip = run(
    [join(dir, 'bin/pip'), 'install', '--quiet', `litellm[proxy]==${version}`, 'prisma'],
    installMs,
  )
  if (!pip.success) throw new Error(`pip could not install it: ${pip.stderr}`)
  return join(dir, 'bin')
}

const configOf = (upstreamPort: number, hasDatabase: boolean): object => ({
  model_list: [
    {
      model_name: model,
      litellm_params: {
        model: 'openai/bench-model-2026-11',
        api_base: `http://127.0.0.1:${upstreamPort}/v1`,
        api_key: 'bench-upstream-key',
        input_cost_per_token: costPerToken,
        output_cost_per_token: costPerToken,
      },
    },
  ],
  general_settings: {
    master_key: masterKey,
    ...(hasDatabase && { database_connection_pool_limit: 10 }),
  },
  litellm_settings: { request_timeout: 600, set_verbose: false, json_logs: true },
})

/** A database of its own, or the reason why there is none. */
async function databaseFor(bin: string): Promise<OwnPostgres | string> {
  if (!hasPostgresPrograms) return 'PostgreSQL is not installed'
  const schema = run(
    [
      join(bin, 'python'),
      '-c',
      'import litellm.proxy, os; print(os.path.dirname(litellm.proxy.__file__))',
    ],
    generateMs,
  )
  const path = join(schema.stdout.toString().trim(), 'schema.prisma')
  const generated = run([join(bin, 'prisma'), 'generate', '--schema', path], generateMs, {
    PATH: `${bin}:${Bun.env['PATH']}`,
  })
  if (!generated.success) return 'its database client (Prisma) could not be downloaded'
  return startBenchPostgres()
}

const chargingOf = (database: OwnPostgres | string): Charging =>
  typeof database === 'string'
    ? { kept: 'nowhere', why: `without a database it keeps none; ${database}` }
    : {
        kept: 'books',
        where: 'LiteLLM_SpendLogs',
        async count() {
          const text = 'SELECT count(*)::text AS n FROM "LiteLLM_SpendLogs" WHERE spend > 0'
          const [row] = await database.ask<{ n: string }>(text)
          return Number(row!.n)
        },
      }

export const makeLiteLlm: MakePeer = async (workspace) => {
  const bin = install(join(workspace.tempDir, 'venv'))
  const database = await databaseFor(bin)
  const hasDatabase = typeof database !== 'string'
  const config = join(workspace.tempDir, 'litellm.yaml')
  writeFileSync(config, JSON.stringify(configOf(workspace.upstreamPort, hasDatabase)))
  return {
    name: 'litellm',
    setting:
      `litellm[proxy] ${version}, one worker, LITELLM_LOG=ERROR, LITELLM_MODE=PRODUCTION; ` +
      `${maxStreams} streams at once; ` +
      (hasDatabase
        ? 'spend log on PostgreSQL, whose CPU is not counted'
        : `no database: ${database}`),
    model,
    maxStreams,
    start: () => startProxy(workspace, bin, config, hasDatabase ? database.url : undefined),
    charging: chargingOf(database),
    ...(hasDatabase && { end: () => database.remove() }),
  }
}

async function startProxy(
  { tempDir, children }: Workspace,
  bin: string,
  config: string,
  databaseUrl: string | undefined,
): Promise<Target> {
  const port = freePort()
  const child = startChild({
    name: 'litellm',
    command: [
      ...[join(bin, 'litellm'), '--config', config, '--host', '127.0.0.1'],
      ...['--port', String(port), '--num_workers', '1'],
    ],
    cwd: tempDir,
    env: {
      ...Bun.env,
      PATH: `${bin}:${Bun.env['PATH']}`,
      LITELLM_LOG: 'ERROR',
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_TELEMETRY: 'False',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    logFile: join(tempDir, 'litellm.log'),
  })
  children.push(child)
  await child.waitUntil(() => isAnswering(port, '/health/liveliness'), startMs)
  const headers = { authorization: `Bearer ${masterKey}` }
  return { name: 'litellm', port, pids: treeOf(child.pid), headers, child }
}

async function isAnswering(port: number, path: string): Promise<boolean> {
  const signal = AbortSignal.timeout(2000)
  return fetch(`http://127.0.0.1:${port}${path}`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  )
}

// PostgreSQL and Redis for one test run: started when their programs are on this machine and the
// environment names no server already. Refuses to install anything; scripts/services does that.
import { join, resolve } from 'node:path'

interface Services {
  /** Settings for the tests. */
  env: Record<string, string>
  /** True when a program is here but its server did not start. */
  hasFailed: boolean
  stop(): void
}

const script = resolve(import.meta.dir, '../services')

export const noServices: Services = { env: {}, hasFailed: false, stop: () => {} }

/** `TEST_POSTGRES_URL=` (set, but empty) turns PostgreSQL off; TEST_REDIS_URL does the same for Redis. */
export function missingServices(env: Readonly<Record<string, string | undefined>>): string[] {
  const missing = []
  if (env['TEST_POSTGRES_URL'] === undefined) missing.push('postgres')
  if (env['TEST_REDIS_URL'] === undefined) missing.push('redis')
  return missing
}

export function startServices(work: string): Services {
  const env = { ...process.env, TEST_SERVICES_DIR: join(work, 'services') }
  // Not a pipe for stderr: a server would inherit it.
  const run = (...args: string[]) =>
    Bun.spawnSync([script, ...args], { env, stdout: 'pipe', stderr: 'inherit' })
  const { exitCode, stdout } = run('start', ...missingServices(process.env))
  const settings = [...String(stdout).matchAll(/^export (\w+)='?([^'\n]*)'?$/gm)].map(
    ([, name, value]): [string, string] => [name!, value!],
  )
  return {
    env: Object.fromEntries(settings.filter(([name]) => process.env[name] === undefined)),
    hasFailed: exitCode !== 0,
    stop: () => void run('stop'),
  }
}

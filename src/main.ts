// Entry of the `gateway` command: its first argument selects the module to load, and no other is
// loaded. A single-file program first sets the environment it needs.
import { assets } from './lib/assets.ts'
import { keepSignals } from './start/signals.ts'

/** Bun reads these before any code runs; bin/gateway sets the same. */
const wanted: Readonly<Record<string, string>> = {
  BUN_CONFIG_MAX_HTTP_REQUESTS: '20000',
  BUN_JSC_forceRAMSize: '700000000',
  BUN_JSC_concurrentGCMaxHeadroom: '8',
}

/** Becomes the same program once more, if something it needs was not set for it. */
function settle(): void {
  if (assets.standsAlone !== true) return
  const missing = Object.entries(wanted).filter(([name]) => process.env[name] === undefined)
  if (missing.length === 0) return
  const env = { ...process.env, ...Object.fromEntries(missing) } as NodeJS.ProcessEnv
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], env)
}

const words: Readonly<Record<string, () => Promise<unknown>>> = {
  start: () => import('./start/gateway.ts'),
  worker: () => import('./start/gateway.ts'),
  sandbox: () => {
    process.argv.splice(2, 1)
    return import('../sandbox/main.ts')
  },
  demo: () => import('./demo/main.ts'),
  doctor: () => import('./ops/doctor/main.ts'),
  check: () => import('./ops/check.ts'),
  restore: () => import('./ops/db.ts'),
  db: () => import('./ops/db.ts'),
}

const serving = ['start', 'worker', 'sandbox', 'demo']
const first = process.argv[2] ?? 'start'
/** Settings are no flags: the command line says so, and what `start --help` asks. */
const word = first === 'start' && process.argv.length > 3 ? 'help' : first
if (serving.includes(word)) settle()
if (word === 'start' || word === 'worker' || word === 'demo') keepSignals()
void (words[word] ?? (() => import('./cli/main.ts')))()

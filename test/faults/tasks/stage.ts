// A gateway whose clock the test turns: the real routes behind a real server, a real store, the real
// providers asking a scripted upstream. No poller runs; the test looks after what is due.
import { createApp } from '../../../src/app.ts'
import { limits } from '../../../src/config/index.ts'
import { applyDeclarations } from '../../../src/engine/catalog/apply-declarations.ts'
import { refresh } from '../../../src/engine/catalog/refresh.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { advanceTask } from '../../../src/engine/tasks/poll/advance-task.ts'
import { fileWith, newTestEngine } from '../../../src/engine/test-engine.ts'
import { createLog } from '../../../src/lib/telemetry/log.ts'
import type { Dialect as StoreDialect } from '../../../src/store/schema.ts'
import { leaseDueTasks, nextDueMs } from '../../../src/store/tasks/leases.ts'

import { startTaskUpstream, type TaskUpstreamServer } from './upstream.ts'

const adminSecret = 'admin-of-the-stage-0123456789'
const leaseMs = 30_000
const maxAtOnce = 64

export interface TaskStage {
  url: string
  engine: Engine
  upstream: TaskUpstreamServer
  /** Another origin, where the same cases are played. */
  elsewhere: TaskUpstreamServer
  clock: { ms: number }
  /** Of a server on another loopback address, which nobody may ask. */
  trapPort: number
  /** Turns the clock to when the next task is due, or by `atLeastMs`, and looks after what is due. */
  poll(atMinMs?: number): Promise<void>
  /** Whether any task has not ended. */
  isBusy(): Promise<boolean>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  admin(method: string, path: string, body?: object): Promise<any>
  /** Everything the gateway has logged. */
  log(): string
  close(): Promise<void>
}

/** `declare`: what gateway.yaml would say, given where the upstream listens. */
export async function openTaskStage(
  on: StoreDialect,
  declare: (upstream: string) => object,
): Promise<TaskStage> {
  const [upstream, elsewhere] = [await startTaskUpstream(), await startTaskUpstream()]
  const base = await newTestEngine(on)
  const { clock } = base
  let lines = ''
  const log = createLog({
    level: 'debug',
    pretty: false,
    write: (line) => {
      lines += line
    },
    clean: (line) => engine.cleaner.cleanLine(line),
  })
  const engine: Engine = { ...base.engine, log, egressAllow: ['127.0.0.1/32'] }
  const file = fileWith(declare(`http://127.0.0.1:${upstream.port}`))
  await applyDeclarations(engine, file)
  engine.declared = { ...engine.declared, file }
  await refresh(engine)
  const server = serve(engine)
  const url = `http://127.0.0.1:${server.port}`
  return {
    ...{ url, engine, upstream, elsewhere, clock, trapPort: 0, log: () => lines },
    async poll(atMinMs = 0) {
      const dueMs = await nextDueMs(engine.store.read, Number.MAX_SAFE_INTEGER)
      clock.ms = Math.max(clock.ms + atMinMs, dueMs ?? 0)
      await pollAfterDue(engine)
    },
    isBusy: async () => (await nextDueMs(engine.store.read, Number.MAX_SAFE_INTEGER)) !== undefined,
    async admin(method, path, body) {
      const response = await fetch(`${url}/admin/v1${path}`, {
        method,
        // A kept connection would count as an open socket.
        keepalive: false,
        headers: { authorization: `Bearer ${adminSecret}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return response.json()
    },
    async close() {
      await server.stop(true)
      await base.close()
      await upstream.stop()
      await elsewhere.stop()
    },
  }
}

function serve(engine: Engine) {
  const handle = createApp({
    engine,
    limits,
    isAdmin: (secret) => secret === adminSecret,
    configSchema: async () => '{}',
  })
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    development: false,
    fetch: (request) => handle(request, { ip: () => '127.0.0.1', keepOpen: () => {} }),
  })
}

async function pollAfterDue(engine: Engine): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const input = { owner: 'test', nowMs, untilMs: nowMs + leaseMs, limit: maxAtOnce }
  const { leased } = await engine.store.tx((tx) => leaseDueTasks(tx, engine.store.dialect, input))
  for (const each of leased) await advanceTask(engine, each)
}

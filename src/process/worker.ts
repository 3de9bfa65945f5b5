// One of several processes of a gateway: takes its settings from the supervisor, reports when it is
// ready, and ends when the supervisor is gone. Knows nothing of the other workers.

import type { Config } from '../config/index.ts'
import type { ReloadOutcome } from '../contract/reload.ts'
import type { MadeToken } from '../engine/catalog/apply-declarations.ts'
import type { Family } from '../lib/telemetry/metrics.ts'
import type { Banner } from '../start/banner.ts'
import type { OpenedSandbox } from '../start/boot.ts'
import { isRefusedStart, type Served, serve } from '../start/serve.ts'
import { handleSignals } from '../start/signals.ts'

/** How the supervisor starts this program as a worker. */
export const workerArgument = 'worker'

/** From the supervisor. `begin` is the first. */
export type Order =
  | { kind: 'begin'; config: Config; sandbox?: HandedSandbox }
  /** The port is free for it. */
  | { kind: 'listen' }
  | { kind: 'reload'; config: Config }
  | { kind: 'drain' }
  /** Ends work in flight. */
  | { kind: 'quit' }
  /** Requests its metrics. */
  | { kind: 'count' }
  /** The metrics of all workers, as requested. */
  | { kind: 'whole'; families: readonly Family[] }
  /** How the reload went that it has requested; the replies come in the order of the requests. */
  | { kind: 'reload done'; outcome: ReloadOutcome }

export type HandedSandbox = Pick<OpenedSandbox, 'key'> & {
  sandbox: Omit<OpenedSandbox['sandbox'], 'asked' | 'stop'>
}

/** To the supervisor. */
export type Report =
  /** The program runs and can receive messages. */
  | { kind: 'up' }
  /** All but the port is open. */
  | { kind: 'open' }
  | { kind: 'ready'; banner: Banner }
  | { kind: 'refused'; sentence: string }
  | { kind: 'reloaded'; tokens: readonly MadeToken[] }
  | { kind: 'not reloaded'; reason: string }
  /** Its metrics. */
  | { kind: 'counted'; families: readonly Family[] }
  /** Requests the metrics of all workers. */
  | { kind: 'whole wanted' }
  /** Requests a reload of all workers. */
  | { kind: 'reload wanted' }

export const isWorker = (): boolean =>
  process.argv[2] === workerArgument && process.send !== undefined

const report = (sent: Report): void => {
  process.send?.(sent)
}

export async function runWorker(): Promise<void> {
  let served: Served | undefined
  const leave = async () => {
    await served?.drain()
    process.exit(0)
  }
  // Without a supervisor no process would replace it, stop it or keep others off its port.
  process.on('disconnect', leave)
  const hurry = () => (served === undefined ? process.exit(0) : served.hurry())
  let signalled = false
  handleSignals((signal) => {
    // A terminal and a service manager signal every process; only the supervisor's message counts.
    if (signal === 'SIGHUP') return
    if (signalled || served === undefined) return hurry()
    signalled = true
    void leave()
  })
  const begun = Promise.withResolvers<Extract<Order, { kind: 'begin' }>>()
  const free = Promise.withResolvers<void>()
  const whole = new WholeMetrics()
  const asked: ((outcome: ReloadOutcome) => void)[] = []
  process.on('message', (order: Order) => {
    if (order.kind === 'begin') begun.resolve(order)
    if (order.kind === 'listen') free.resolve()
    if (order.kind === 'drain') void leave()
    if (order.kind === 'quit') hurry()
    if (order.kind === 'reload' && served !== undefined) void reload(served, order.config)
    if (order.kind === 'count' && served !== undefined) void count(served)
    if (order.kind === 'whole') whole.reply(order.families)
    if (order.kind === 'reload done') asked.shift()?.(order.outcome)
  })
  report({ kind: 'up' })
  const { config, sandbox } = await begun.promise
  try {
    served = await serve(config, {
      mayListen() {
        report({ kind: 'open' })
        return free.promise
      },
      wholeMetrics: () => whole.ask(),
      reload: () =>
        new Promise((resolve) => {
          asked.push(resolve)
          report({ kind: 'reload wanted' })
        }),
      ...(sandbox !== undefined && { sandbox: opened(sandbox) }),
    })
    report({ kind: 'ready', banner: served.banner })
  } catch (error) {
    if (!isRefusedStart(error)) throw error
    report({ kind: 'refused', sentence: error.message })
  }
}

async function count(served: Served): Promise<void> {
  try {
    report({ kind: 'counted', families: await served.metrics() })
  } catch (error) {
    served.log.warn('worker metrics not collected', { error })
  }
}

/** Longer than the supervisor waits for the workers. */
const maxWaitMs = 2_000

/** The metrics of all workers, from the supervisor; concurrent requests share one reply. */
class WholeMetrics {
  #asked: PromiseWithResolvers<readonly Family[] | undefined> | undefined

  ask(): Promise<readonly Family[] | undefined> {
    if (this.#asked !== undefined) return this.#asked.promise
    const asked = Promise.withResolvers<readonly Family[] | undefined>()
    this.#asked = asked
    setTimeout(() => this.reply(undefined, asked), maxWaitMs).unref()
    report({ kind: 'whole wanted' })
    return asked.promise
  }

  reply(families: readonly Family[] | undefined, asked = this.#asked): void {
    asked?.resolve(families)
    if (this.#asked === asked) this.#asked = undefined
  }
}

/** Runs in the supervisor, so that every worker polls the same sandbox. */
const opened = ({ key, sandbox }: HandedSandbox): OpenedSandbox => ({
  key,
  sandbox: { ...sandbox, asked: () => [], stop: async () => {} },
})

async function reload(served: Served, config: Config): Promise<void> {
  try {
    report({ kind: 'reloaded', tokens: await served.reload(config) })
  } catch (error) {
    report({ kind: 'not reloaded', reason: (error as Error).message })
  }
}

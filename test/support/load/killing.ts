// A gateway that dies without warning again and again, and is started again where it died: killed at
// random moments, or, in the lives a plan sets aside for that, by itself at a named point.
import type { CrashAt, CrashPoint } from '../../../src/lib/crash-point.ts'
import type { TestGateway } from '../gateway.ts'
import type { Lives } from './crash-load.ts'

export interface Killing extends Lives {
  /** Kills the last one and ends. */
  end(): Promise<void>
  /** Rejects when a gateway does not come up again. */
  readonly broken: Promise<never>
  /** The point at which the living gateway will die by itself. */
  awaits(): CrashPoint | undefined
  /** Deaths by chance. */
  random(): number
  /** Points at which one died by itself, and points that nobody came by in time. */
  readonly struck: readonly CrashPoint[]
  readonly missed: readonly CrashPoint[]
}

type Start = (env: Record<string, string>) => Promise<TestGateway>

const minLifeMs = 100
/** On a slow machine, as long as it takes to start one: else nothing would happen between kills. */
const maxLifeMs = 600
/** A life in which no point is reached ends after this. */
const maxWaitMs = 120_000
export interface KillingOptions {
  /** Several killers may share one plan: each point is taken from it once. */
  plan?: CrashAt[]
  /** Every how-manieth life has a point, while there are points left. */
  plannedEvery?: number
  /** Makes lives so many times longer; several gateways that start all the time do nothing else. */
  stretch?: number
}

export function startKilling(
  start: Start,
  random: () => number,
  { plan = [], plannedEvery = 3, stretch = 1 }: KillingOptions = {},
): Killing {
  let killed = 0
  let byChance = 0
  let up = false
  let awaited: CrashAt | undefined
  const struck: CrashPoint[] = []
  const missed: CrashPoint[] = []
  const ending = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  let ended = false
  let waiting: { life: number; resolve: () => void }[] = []

  const rise = () => {
    up = true
    const ready = waiting.filter(({ life }) => life <= killed)
    waiting = waiting.filter(({ life }) => life > killed)
    for (const { resolve } of ready) resolve()
  }
  const fall = () => {
    up = false
    killed++
  }
  const untilKilled = async () => {
    const startedMs = performance.now()
    const gateway = await start({})
    rise()
    const maxMs = Math.max(maxLifeMs, performance.now() - startedMs)
    const lifeMs = minLifeMs + random() * (maxMs - minLifeMs)
    await Promise.race([Bun.sleep(lifeMs * stretch), ending.promise])
    fall()
    byChance++
    await gateway.stop('SIGKILL')
  }
  const untilPoint = async ({ point, time }: CrashAt) => {
    // It may pass its point before it says that it is ready.
    const gateway = await start({ GATEWAY_CRASH_AT: `${point}:${time}` }).catch(() => undefined)
    if (gateway !== undefined) {
      rise()
      await Promise.race([gateway.exited, Bun.sleep(maxWaitMs)])
    }
    const reached = gateway?.hasExited() ?? true
    ;(reached ? struck : missed).push(point)
    fall()
    await gateway?.stop('SIGKILL')
  }
  const live = async () => {
    for (let life = 1; !ended; life++) {
      awaited = life % plannedEvery === 0 ? plan.shift() : undefined
      if (awaited === undefined) await untilKilled()
      else await untilPoint(awaited)
      awaited = undefined
    }
  }
  const done = live().catch((error) => broken.reject(error))

  return {
    broken: broken.promise,
    struck,
    missed,
    awaits: () => awaited?.point,
    random: () => byChance,
    killed: () => killed,
    after(life) {
      if (up && killed >= life) return Promise.resolve()
      return new Promise((resolve) => waiting.push({ life, resolve }))
    },
    async end() {
      ended = true
      ending.resolve()
      await done
    },
  }
}

// A gateway that is killed without warning again and again, and started again where it died.
import type { Lives } from './crash-load.ts'
import type { TestGateway } from './gateway.ts'

export interface Killing extends Lives {
  /** Kills the last one and ends. */
  end(): Promise<void>
  /** Rejects when a gateway does not come up again. */
  readonly broken: Promise<never>
}

const shortestLifeMs = 100
const longestLifeMs = 600

export function startKilling(start: () => Promise<TestGateway>, random: () => number): Killing {
  let killed = 0
  let up = false
  const ending = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  let ended = false
  let waiting: { life: number; resolve: () => void }[] = []

  const wake = () => {
    const ready = waiting.filter(({ life }) => life <= killed)
    waiting = waiting.filter(({ life }) => life > killed)
    for (const { resolve } of ready) resolve()
  }
  const live = async () => {
    while (!ended) {
      const gateway = await start()
      up = true
      wake()
      const lifeMs = shortestLifeMs + random() * (longestLifeMs - shortestLifeMs)
      await Promise.race([Bun.sleep(lifeMs), ending.promise])
      up = false
      killed++
      await gateway.stop('SIGKILL')
    }
  }
  const done = live().catch((error) => broken.reject(error))

  return {
    broken: broken.promise,
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

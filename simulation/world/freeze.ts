// A database server that freezes and resumes later: what is in its sockets is executed then, even if the sender
// has died.
import type { SimGateway } from '../gateway/gateway.ts'
import type { SimContext } from './context.ts'

const minFreezeMs = 500
const maxFreezeMs = 25_000

export function freeze(context: SimContext, gateways: readonly SimGateway[]): void {
  const { world, random, faults } = context
  const forMs = random.process.between(minFreezeMs, maxFreezeMs)
  world.note(`the database freezes for ${Math.round(forMs)} ms`)
  context.frozenUntilMs = world.nowMs + forMs
  for (const gateway of gateways) {
    gateway.noticeFreeze()
    if (!random.process.chance(faults.later.diesFrozen)) continue
    const diesMs = random.process.between(0, forMs)
    const isKilled = random.process.chance(0.5)
    world.after(diesMs, undefined, () => {
      if (isKilled) context.kill(gateway.proc, 'killed while the database is frozen')
      else gateway.stop()
    })
  }
}

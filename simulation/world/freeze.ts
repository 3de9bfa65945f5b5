// A database server that stops in the middle of everything and goes on later as if nothing had been: what
// lies in its sockets is done then, whoever has sent it and whatever has become of them.
import type { SimGateway } from '../gateway/gateway.ts'
import type { Stage } from './context.ts'

const minFreezeMs = 500
const maxFreezeMs = 25_000

export function freeze(stage: Stage, gateways: readonly SimGateway[]): void {
  const { world, random, faults } = stage
  const forMs = random.process.between(minFreezeMs, maxFreezeMs)
  world.note(`the database freezes for ${Math.round(forMs)} ms`)
  stage.frozenUntilMs = world.nowMs + forMs
  for (const gateway of gateways) {
    gateway.noticeFreeze()
    if (!random.process.chance(faults.later.diesFrozen)) continue
    const diesMs = random.process.between(0, forMs)
    const isKilled = random.process.chance(0.5)
    world.after(diesMs, undefined, () => {
      if (isKilled) stage.kill(gateway.proc, 'killed while the database is frozen')
      else gateway.stop()
    })
  }
}

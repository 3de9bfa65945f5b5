// A caller's question on its way to a gateway and back. The gateway may die over it, the answer may be
// lost, and a caller that has waited long enough hangs up.
import type { CallContext } from '../../src/contract/caller-api.ts'
import type { Token } from '../../src/contract/catalog.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { newId } from '../../src/lib/crypto/ids.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { Stage } from '../world/context.ts'
import type { Proc } from '../world/world.ts'

const timeoutMs = 150_000

export const tokenOf = (accountId: string): Token => ({
  id: `tok_${accountId}`,
  accountId,
  accountName: accountId,
  name: 'test',
  prefix: 'sk-',
  models: ['*'],
  limits: {},
  allowedIps: [],
  disabled: false,
  source: 'file',
})

export interface Asking {
  stage: Stage
  gateways: readonly SimGateway[]
  /** The process all callers live in; it never dies. */
  callers: Proc
}

export type Asked<T> = { answer: T } | 'lost'

/** What is done there, with a context like that of an HTTP request. */
export type AtGateway<T> = (engine: Engine, ctx: CallContext, hangUp: () => void) => Promise<T>

/** Waits for a gateway that takes callers, that one or any, asks it, and waits for what comes of it. */
export async function ask<T>(
  { stage, gateways, callers }: Asking,
  accountId: string,
  work: AtGateway<T>,
  began: (requestId: string) => void = () => {},
  at?: number,
): Promise<Asked<T>> {
  const { world, random } = stage
  let ready = gateways.filter((gateway) => gateway.ready)
  while (ready.length === 0) {
    await world.pause(250, callers)
    ready = gateways.filter((gateway) => gateway.ready)
  }
  const wanted = at === undefined ? undefined : gateways[at]
  const gateway = wanted?.ready === true ? wanted : random.work.pick(ready)
  const { proc } = gateway
  const engine = gateway.engine!
  return new Promise((resolve) => {
    const back = (asked: Asked<T>) => world.after(wayMs(stage), callers, () => resolve(asked))
    const died = () => back('lost')
    proc.onDeath.add(died)
    const line = new AbortController()
    world.after(timeoutMs, proc, () => line.abort())
    world.after(wayMs(stage), proc, () => {
      const requestId = newId('req', engine.clock.nowMs())
      began(requestId)
      const ctx: CallContext = {
        requestId,
        atMs: engine.clock.nowMs(),
        token: tokenOf(accountId),
        signal: line.signal,
        errorEvent: () => Buffer.from('data: {"error":{}}\n\n'),
      }
      if (random.work.chance(stage.faults.callers.hangsUp)) {
        world.after(random.work.between(1, 20_000), proc, () => line.abort())
      }
      work(engine, ctx, () => line.abort()).then(
        (answer) => {
          proc.onDeath.delete(died)
          const isLost = line.signal.aborted || random.work.chance(stage.faults.callers.answerLost)
          back(isLost ? 'lost' : { answer })
        },
        (error: unknown) => {
          proc.onDeath.delete(died)
          world.note(`a request failed: ${error instanceof Error ? error.message : error}`)
          back('lost')
        },
      )
    })
  })
}

const wayMs = ({ random }: Stage): number => random.work.between(0.5, 20)

// A caller's request on its way to a gateway and back. The gateway may die, the reply may be lost, and a
// caller hangs up when it has waited too long.
import type { CallContext } from '../../src/contract/caller-api.ts'
import type { Token } from '../../src/contract/catalog.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { newId } from '../../src/lib/crypto/ids.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'

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

export interface Sender {
  context: SimContext
  gateways: readonly SimGateway[]
  /** The process of all callers; it never dies. */
  callers: Proc
}

export type Sent<T> = { answer: T } | 'lost'

/** The work at the gateway, with a context like that of an HTTP request. */
type AtGateway<T> = (engine: Engine, ctx: CallContext, hangUp: () => void) => Promise<T>

/** Waits for a gateway that is ready, sends the call, and waits for the reply. */
export async function sendCall<T>(
  sender: Sender,
  accountId: string,
  work: AtGateway<T>,
  began: (requestId: string) => void = () => {},
  at?: number,
): Promise<Sent<T>> {
  const { context, callers } = sender
  const { world, random } = context
  const gateway = await readyGateway(sender, at)
  const { proc } = gateway
  const engine = gateway.engine!
  return new Promise((resolve) => {
    const back = (sent: Sent<T>) => world.after(wayMs(context), callers, () => resolve(sent))
    const died = () => back('lost')
    proc.onDeath.add(died)
    const line = new AbortController()
    world.after(timeoutMs, proc, () => line.abort())
    world.after(wayMs(context), proc, () => {
      const ctx = callContext(engine, accountId, line.signal)
      began(ctx.requestId)
      if (random.work.chance(context.faults.callers.hangsUp)) {
        world.after(random.work.between(1, 20_000), proc, () => line.abort())
      }
      work(engine, ctx, () => line.abort()).then(
        (answer) => {
          proc.onDeath.delete(died)
          const isLost =
            line.signal.aborted || random.work.chance(context.faults.callers.answerLost)
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

/** The named one if it is ready, else any other. */
async function readyGateway({ context, gateways, callers }: Sender, at: number | undefined) {
  const { world, random } = context
  let ready = gateways.filter((gateway) => gateway.ready)
  while (ready.length === 0) {
    await world.pause(250, callers)
    ready = gateways.filter((gateway) => gateway.ready)
  }
  const wanted = at === undefined ? undefined : gateways[at]
  return wanted?.ready === true ? wanted : random.work.pick(ready)
}

const callContext = (engine: Engine, accountId: string, signal: AbortSignal): CallContext => ({
  requestId: newId('req', engine.clock.nowMs()),
  atMs: engine.clock.nowMs(),
  token: tokenOf(accountId),
  signal,
  errorEvent: () => Buffer.from('data: {"error":{}}\n\n'),
})

const wayMs = ({ random }: SimContext): number => random.work.between(0.5, 20)

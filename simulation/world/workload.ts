// What happens in a world by itself: which wishes come when, which credits and prices, and which trouble.
import { announce } from '../../src/engine/catalog/refresh.ts'
import { newShortId } from '../../src/lib/crypto/ids.ts'
import { insertPrice } from '../../src/store/catalog/prices.ts'
import { type Calling, pursue } from '../callers/callers.ts'
import { planClosings } from '../callers/close-months.ts'
import type { CreditInput, Input, InputKind } from '../callers/records.ts'
import { ask } from '../callers/send-call.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { freeze } from './freeze.ts'
import { newPrice } from './prices.ts'
import { models } from './settings.ts'

/** Of nine that are not text so many are of each kind. */
const mix: readonly InputKind[] = [
  ...(['film', 'film', 'film', 'tokenFilm', 'tokenFilm'] as const),
  ...(['drawing', 'drawing', 'picture', 'picture'] as const),
]
const creditTries = 4
const minBurst = 34
const maxBurst = 60
const maxRecalls = 3

/** Plans everything callers will want; `tasks` of it are films and pictures. */
export function planInputs(calling: Calling, tasks: number): void {
  const { stage, callers } = calling
  const { world, random } = stage
  const inputsMs = tasks * stage.manners.inputEveryMs
  let planned = 0
  while (planned < tasks) {
    const input = newInput(calling)
    if (input.kind !== 'text') planned++
    world.after(random.work.between(0, inputsMs), callers, () => void pursue(calling, input))
  }
  for (let count = 0; count < stage.manners.bursts; count++) {
    planBurst(calling, random.work.between(0, inputsMs))
  }
  if (stage.manners.monthEndedMs !== undefined) planClosings(calling, inputsMs)
  const others = Math.ceil(tasks / 10)
  for (let count = 0; count < others; count++) {
    const atMs = random.work.between(0, inputsMs)
    if (random.work.chance(0.6)) world.after(atMs, callers, () => void putCredit(calling))
    else world.after(atMs, callers, () => void changePrice(calling))
  }
}

/** Very many calls at once for one account, most of the time one that has plenty. */
function planBurst(calling: Calling, atMs: number): void {
  const { stage, callers, books } = calling
  const { world, random } = stage
  const { id: accountId } = books.accounts[random.work.pick([0, 0, 1, 2])]!
  const at = random.work.whole(0, stage.gateways - 1)
  const count = random.work.whole(minBurst, maxBurst)
  for (let each = 0; each < count; each++) {
    const input = newInput(calling, { kind: 'text', accountId, at })
    world.after(atMs + random.work.between(0, 5), callers, () => void pursue(calling, input))
  }
  // Other gateways may want what this one is just about to spend.
  for (let count = 0; count < maxRecalls; count++) {
    const asker = calling.gateways[(at + 1) % calling.gateways.length]!
    world.after(atMs + random.work.between(0, 60), undefined, () => {
      asker.cluster?.tell({ kind: 'wanted', accountId, nonce: `recall ${count}` })
    })
  }
  if (random.process.chance(stage.faults.later.freezesUnderLoad)) {
    const freezeMs = atMs + random.process.between(1, 4_000)
    world.after(freezeMs, undefined, () => freeze(stage, calling.gateways))
  }
}

interface Given {
  kind: InputKind
  accountId: string
  at: number
}

function newInput({ stage, books }: Calling, given?: Given): Input {
  const { random, faults } = stage
  const number = books.inputs.length + 1
  const { text, oneAccount } = stage.manners
  const kind = given?.kind ?? (random.work.chance(text) ? 'text' : random.work.pick(mix))
  const twin = random.work.chance(faults.upstream.twins)
    ? books.inputs.findLast((other) => other.kind === kind)
    : undefined
  const isKeyed = random.work.chance(0.5)
  const input: Input = {
    number,
    kind,
    accountId:
      given?.accountId ?? (oneAccount ? books.accounts[1]! : random.work.pick(books.accounts)).id,
    prompt: twin?.prompt ?? `wish ${number}`,
    key: isKeyed ? `key ${number}` : undefined,
    callbackUrl: random.work.chance(0.5) ? `https://receiver.test/${number}` : undefined,
    seconds: random.work.pick([2, 5, 5, 8, 10]),
    resolution: random.work.pick(['720p', '1080p'] as const),
    count: random.work.whole(1, 4),
    wantsBytes: random.work.chance(0.5),
    stream: random.work.chance(0.5),
    ...(given !== undefined && { at: given.at }),
    answers: [],
    requestIds: [],
  }
  books.inputs.push(input)
  return input
}

/** Money comes in, or some of it is taken back; asked again until somebody says what became of it. */
async function putCredit(calling: Calling): Promise<void> {
  const { stage, books, callers } = calling
  const { random, world } = stage
  const amountNanos = BigInt(random.work.whole(1, 30)) * 1_000_000_000n
  const credit: CreditInput = {
    ref: `credit_${books.credits.length + 1}`,
    accountId: random.work.pick(books.accounts).id,
    amountNanos: random.work.chance(0.4) ? -amountNanos : amountNanos,
    answer: undefined,
  }
  books.credits.push(credit)
  books.waiting++
  const { accountId, ref } = credit
  for (let tries = 0; tries < creditTries && credit.answer === undefined; tries++) {
    const asked = await ask(calling, accountId, (engine) =>
      engine.ledger.credit(accountId, credit.amountNanos, { ref, atMs: engine.clock.nowMs() }),
    )
    if (asked !== 'lost') credit.answer = asked.answer
    else await world.pause(random.work.between(100, 2_000), callers)
  }
  world.note(`${ref} of ${credit.amountNanos} for ${accountId}: ${credit.answer}`, callers)
  books.waiting--
}

async function changePrice(calling: Calling): Promise<void> {
  const { stage, books } = calling
  const model = stage.random.work.pick(Object.values(models))
  books.waiting++
  await ask(calling, books.accounts[0]!.id, async (engine) => {
    const nowMs = engine.clock.nowMs()
    const startMs = nowMs + stage.random.work.whole(0, 5_000)
    const price = newPrice(model, newShortId('price', nowMs), startMs, stage.random.work)
    books.prices.set(price.id, price)
    await engine.store.tx((tx) => insertPrice(tx, price, nowMs))
    await announce(engine)
  })
  books.waiting--
}

/** Outages, bursts, kills, stops, clocks that jump: so many per minute, anywhere in the time given. */
export function planTrouble(
  { stage }: Calling,
  gateways: readonly SimGateway[],
  upstream: Upstream,
  overMs: number,
): void {
  const { world, random, faults } = stage
  const plan = (perMinute: number, work: () => void) => {
    const expected = (perMinute * overMs) / 60_000
    const times = Math.floor(expected) + (random.process.chance(expected % 1) ? 1 : 0)
    for (let count = 0; count < times; count++) {
      world.after(random.process.between(0, overMs), undefined, work)
    }
  }
  const { store, wire, process, later } = faults
  plan(later.freezes, () => freeze(stage, gateways))
  plan(store.outages, () => {
    const forMs = random.process.between(100, Math.max(200, store.outageMs))
    world.note(`the store is away for ${Math.round(forMs)} ms`)
    stage.storeAwayUntilMs = world.nowMs + forMs
  })
  plan(wire.bursts, () => {
    world.note('the upstream turns everybody away')
    upstream.burst(random.process.between(500, Math.max(1_000, wire.burstMs)))
  })
  for (const gateway of gateways) {
    plan(process.kills, () => stage.kill(gateway.proc, 'killed'))
    plan(process.stops, () => gateway.stop())
    plan(process.clockSteps, () => {
      const { maxClockStepMs } = stage.manners
      gateway.proc.skewMs = random.process.whole(-maxClockStepMs, maxClockStepMs)
      world.note(`the clock is off by ${gateway.proc.skewMs} ms`, gateway.proc)
    })
    plan(process.partitions, () => gateway.cluster?.cutOff(random.process.between(500, 25_000)))
  }
}

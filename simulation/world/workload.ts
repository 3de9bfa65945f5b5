// The workload of a world: which requests come when, which credits and prices, and which faults.
import { announce, noTokens } from '../../src/engine/catalog/refresh.ts'
import { newShortId } from '../../src/lib/crypto/ids.ts'
import { insertPrice } from '../../src/store/catalog/prices.ts'
import { planBackground } from '../callers/background.ts'
import { planBatches } from '../callers/batches.ts'
import { follow } from '../callers/callers.ts'
import type { Calling } from '../callers/calling.ts'
import { planClosings } from '../callers/close-months.ts'
import type { CreditInput, Input, InputKind } from '../callers/records.ts'
import { planRefunds } from '../callers/refunds.ts'
import { sendCall } from '../callers/send-call.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { freeze } from './freeze.ts'
import { changedCost, newPrice } from './prices.ts'
import { models } from './settings.ts'

/** Weights of the kinds other than text. */
const mix: readonly InputKind[] = [
  ...(['video', 'video', 'video', 'tokenVideo', 'tokenVideo'] as const),
  ...(['imageTask', 'imageTask', 'image', 'image'] as const),
]
const creditTries = 4
const minBurst = 34
const maxBurst = 60
const maxRecalls = 3
const costChanges = 2

/** Plans all inputs; `tasks` of them are videos and images. */
export function planInputs(calling: Calling, tasks: number): void {
  const { context, callers } = calling
  const { world, random } = context
  const inputsMs = tasks * context.profile.inputEveryMs
  let planned = 0
  while (planned < tasks) {
    const input = newInput(calling)
    if (input.kind !== 'text') planned++
    world.after(random.work.between(0, inputsMs), callers, () => void follow(calling, input))
  }
  for (let count = 0; count < context.profile.bursts; count++) {
    planBurst(calling, random.work.between(0, inputsMs))
  }
  if (context.profile.monthEndedMs !== undefined) planClosings(calling, inputsMs)
  if (context.parts.batches) planBatches(calling, inputsMs)
  if (context.parts.background) planBackground(calling, inputsMs, follow)
  if (context.parts.books) {
    planRefunds(calling, inputsMs)
    for (let count = 0; count < costChanges; count++) {
      world.after(random.parts.between(0, inputsMs), callers, () => void changeCost(calling))
    }
  }
  const others = Math.ceil(tasks / 10)
  for (let count = 0; count < others; count++) {
    const atMs = random.work.between(0, inputsMs)
    if (random.work.chance(0.6)) world.after(atMs, callers, () => void putCredit(calling))
    else world.after(atMs, callers, () => void changePrice(calling))
  }
}

/** Very many calls at once for one account, usually a solvent one. */
function planBurst(calling: Calling, atMs: number): void {
  const { context, callers, records } = calling
  const { world, random } = context
  const { id: accountId } = records.accounts[random.work.pick([0, 0, 1, 2])]!
  const at = random.work.whole(0, context.gateways - 1)
  const count = random.work.whole(minBurst, maxBurst)
  for (let each = 0; each < count; each++) {
    const input = newInput(calling, { kind: 'text', accountId, at })
    world.after(atMs + random.work.between(0, 5), callers, () => void follow(calling, input))
  }
  // Other gateways may need what this one is about to spend.
  for (let count = 0; count < maxRecalls; count++) {
    const sender = calling.gateways[(at + 1) % calling.gateways.length]!
    world.after(atMs + random.work.between(0, 60), undefined, () => {
      sender.cluster?.publish({ kind: 'wanted', accountId, nonce: `recall ${count}` })
    })
  }
  if (random.process.chance(context.faults.later.freezesUnderLoad)) {
    const freezeMs = atMs + random.process.between(1, 4_000)
    world.after(freezeMs, undefined, () => freeze(context, calling.gateways))
  }
}

interface Given {
  kind: InputKind
  accountId: string
  at: number
}

function newInput({ context, records }: Calling, given?: Given): Input {
  const { random, faults } = context
  const number = records.inputs.length + 1
  const { text, oneAccount } = context.profile
  const kind = given?.kind ?? (random.work.chance(text) ? 'text' : random.work.pick(mix))
  const twin = random.work.chance(faults.upstream.twins)
    ? records.inputs.findLast((other) => other.kind === kind)
    : undefined
  const isKeyed = random.work.chance(0.5)
  const input: Input = {
    number,
    kind,
    accountId:
      given?.accountId ??
      (oneAccount ? records.accounts[1]! : random.work.pick(records.accounts)).id,
    // What upstreams did for a text call is found by its prompt.
    prompt: (kind === 'text' ? undefined : twin?.prompt) ?? `task ${number}`,
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
  records.inputs.push(input)
  return input
}

/** Credits and debits; sent again until a gateway replies. */
async function putCredit(calling: Calling): Promise<void> {
  const { context, records, callers } = calling
  const { random, world } = context
  const amountNanos = BigInt(random.work.whole(1, 30)) * 1_000_000_000n
  const credit: CreditInput = {
    ref: `credit_${records.credits.length + 1}`,
    accountId: random.work.pick(records.accounts).id,
    amountNanos: random.work.chance(0.4) ? -amountNanos : amountNanos,
    answer: undefined,
  }
  records.credits.push(credit)
  records.waiting++
  const { accountId, ref } = credit
  for (let tries = 0; tries < creditTries && credit.answer === undefined; tries++) {
    const sent = await sendCall(calling, accountId, (engine) =>
      engine.ledger
        .credit(accountId, credit.amountNanos, { ref, atMs: engine.clock.nowMs() })
        .commit(),
    )
    if (sent !== 'lost') credit.answer = sent.answer
    else await world.pause(random.work.between(100, 2_000), callers)
  }
  world.note(`${ref} of ${credit.amountNanos} for ${accountId}: ${credit.answer}`, callers)
  records.waiting--
}

async function changePrice(calling: Calling): Promise<void> {
  const { context, records } = calling
  const model = context.random.work.pick(Object.values(models))
  records.waiting++
  await sendCall(calling, records.accounts[0]!.id, async (engine) => {
    const nowMs = engine.clock.nowMs()
    const startMs = nowMs + context.random.work.whole(0, 5_000)
    const price = newPrice(model, newShortId('price', nowMs), startMs, context.random.work)
    records.prices.set(price.id, price)
    await engine.store.tx((tx) => insertPrice(tx, price, nowMs))
    await announce(engine, noTokens)
  })
  records.waiting--
}

async function changeCost(calling: Calling): Promise<void> {
  const { context, records } = calling
  const { random } = context
  records.waiting++
  await sendCall(calling, records.accounts[0]!.id, async (engine) => {
    const nowMs = engine.clock.nowMs()
    const startMs = nowMs + random.parts.whole(0, 5_000)
    const cost = changedCost(newShortId('cost', nowMs), startMs, random.parts)
    records.costs.push(cost)
    await engine.store.tx((tx) => insertPrice(tx, cost, nowMs))
    await announce(engine, noTokens)
  })
  records.waiting--
}

/** Outages, bursts, kills, stops, clock jumps: at their rates, at random times. */
export function planTrouble(
  { context }: Calling,
  gateways: readonly SimGateway[],
  upstream: Upstream,
  overMs: number,
): void {
  const { world, random, faults } = context
  const plan = (perMinute: number, work: () => void) => {
    const expected = (perMinute * overMs) / 60_000
    const times = Math.floor(expected) + (random.process.chance(expected % 1) ? 1 : 0)
    for (let count = 0; count < times; count++) {
      world.after(random.process.between(0, overMs), undefined, work)
    }
  }
  const { store, wire, process, later } = faults
  plan(later.freezes, () => freeze(context, gateways))
  plan(store.outages, () => {
    const forMs = random.process.between(100, Math.max(200, store.outageMs))
    world.note(`the store is away for ${Math.round(forMs)} ms`)
    context.storeAwayUntilMs = world.nowMs + forMs
  })
  plan(wire.bursts, () => {
    world.note('the upstream refuses every request')
    upstream.burst(random.process.between(500, Math.max(1_000, wire.burstMs)))
  })
  for (const gateway of gateways) {
    plan(process.kills, () => context.kill(gateway.proc, 'killed'))
    plan(process.stops, () => gateway.stop())
    plan(process.clockSteps, () => {
      const { maxClockStepMs } = context.profile
      gateway.proc.skewMs = random.process.whole(-maxClockStepMs, maxClockStepMs)
      world.note(`the clock is off by ${gateway.proc.skewMs} ms`, gateway.proc)
    })
    plan(process.partitions, () => gateway.cluster?.cutOff(random.process.between(500, 25_000)))
  }
}

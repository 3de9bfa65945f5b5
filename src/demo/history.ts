// Eight weeks of a company, written day by day: customers come, call by day more than by night, pay, and the
// company's people do what people do: prices change, a channel fails, months are closed, a mistake is refunded.

import { availableNanos } from '../billing/balances.ts'
import { formatNanos, parseNanos } from '../lib/text/decimal.ts'
import { monthAt, monthPlus } from '../lib/text/month.ts'
import { raiseAlert, resolveAlerts } from '../store/catalog/alerts.ts'
import { listTokens, type StoredToken } from '../store/catalog/tokens.ts'
import { type Caller, type Incident, makeCall } from './calls.ts'
import { type Customer, customers, people } from './company.ts'
import { demoCosts, demoModel, demoModels, raisedCost } from './offer.ts'
import { finishTask, type StartedTask, startTask } from './tasks.ts'
import { callsIn, dayMs, historyDays, hourMs } from './working-day.ts'
import type { World } from './world.ts'

/** Rows that are on their way to the store. */
const maxPending = 400

/** What a late customer pays at a time, and when. */
const partNanos = parseNanos('8.00')!
const partWhenNanos = parseNanos('3.00')!

/** Where history begins, if it ends at this moment: at midnight. */
export const historyStartMs = (endMs: number, days = historyDays): number =>
  endMs - (endMs % dayMs) - (days - 1) * dayMs

export interface Secrets {
  password: string
  /** The secret of a token. */
  tokenOf(account: string, token: string): string
}

interface Member {
  customer: Customer
  id: string
  tokens: readonly StoredToken[]
}

interface Happening {
  atMs: number
  run(): Promise<unknown>
}

/** Writes all that happened from the world's time until `endMs`. */
export async function writeHistory(world: World, endMs: number, secrets: Secrets): Promise<void> {
  const history = new History(world, endMs, secrets)
  await history.open()
  for (let day = 0; history.has(day); day++) await history.live(day)
  await history.close()
}

class History {
  readonly #world: World
  readonly #startMs: number
  readonly #endMs: number
  readonly #secrets: Secrets
  readonly #members: Member[] = []
  readonly #incident: Incident
  #pending: Promise<unknown>[] = []
  /** Tasks that have succeeded and calls that were charged, for what is done about them later. */
  readonly #made: { taskId?: string; requestId?: string } = {}

  constructor(world: World, endMs: number, secrets: Secrets) {
    this.#world = world
    this.#startMs = world.clock.ms
    this.#endMs = endMs
    this.#secrets = secrets
    const fromMs = this.#at(historyDays - 12, 13, 9)
    this.#incident = { channel: 'openai-direct', fromMs, untilMs: fromMs + 3.3 * hourMs }
  }

  has = (day: number): boolean => this.#at(day, 0) < this.#endMs

  #at = (day: number, hour: number, minute = 0): number =>
    this.#startMs + day * dayMs + hour * hourMs + minute * 60_000

  /** The first morning: who works here, what is sold, and for how much. */
  async open(): Promise<void> {
    const { admin } = this.#world
    for (const person of people.filter(({ role }) => role !== 'member')) {
      const by = person.role === 'administrator' ? undefined : 'mara'
      await admin(by, 'POST /people', { ...person, password: this.#secrets.password })
    }
    for (const { name, price } of demoModels) {
      await admin('mara', 'POST /prices', { model: name, ...price })
    }
    for (const cost of demoCosts) await admin('finn', 'POST /costs', cost)
    // Of the moment in which models were there and their prices were not.
    await this.#world.engine.store.tx((tx) => tx.deleteFrom('alerts').execute())
  }

  async live(day: number): Promise<void> {
    const { clock } = this.#world
    clock.ms = Math.max(clock.ms, this.#at(day, 0))
    for (const customer of customers) if ((customer.since ?? 0) === day) await this.#join(customer)
    const happenings = [...this.#planned(day), ...this.#callsOf(day)]
    happenings.sort((a, b) => a.atMs - b.atMs)
    for (const { atMs, run } of happenings) {
      for (let first = this.#running[0]; first && first.endMs < atMs; first = this.#running[0]) {
        this.#running.shift()
        await this.#finish(first)
      }
      clock.ms = atMs
      await run()
    }
  }

  /** In the order in which they end. */
  readonly #running: StartedTask[] = []

  async close(): Promise<void> {
    const { clock, engine } = this.#world
    for (const started of this.#running.splice(0)) await this.#finish(started)
    await this.#settle()
    clock.ms = this.#endMs
    await engine.receiptWriter.drain()
  }

  async #finish(started: StartedTask): Promise<void> {
    if (!(await started.isCreated)) return
    const { task, end, endMs } = started
    this.#world.clock.ms = Math.min(endMs, this.#endMs)
    if (end.state === 'succeeded' && task.kind === 'video') this.#made.taskId = task.id
    await this.#write(finishTask(this.#world, started))
  }

  async #write(written: Promise<unknown>): Promise<void> {
    if (this.#pending.push(written) >= maxPending) await this.#settle()
  }

  /** What is done by people sees all that was written before. */
  async #settle(): Promise<void> {
    await Promise.all(this.#pending.splice(0))
  }

  #join = async (customer: Customer): Promise<void> => {
    const { admin, clock, engine } = this.#world
    const { name, profile, budget, balance_low, credit } = customer
    clock.ms += 60_000
    const { id } = await admin('mara', 'POST /accounts', {
      name,
      ...profile,
      balance: credit.toFixed(2),
      tag_names: ['team'],
      ...(budget !== undefined && { budget }),
      ...(balance_low !== undefined && { balance_low }),
    })
    for (const { name: token, team, budget } of customer.tokens) {
      await admin('mara', 'POST /tokens', {
        account: name,
        name: token,
        token: this.#secrets.tokenOf(name, token),
        ...(team !== undefined && { tags: { team } }),
        ...(budget !== undefined && { budget }),
      })
    }
    const member = people.find((person) => 'account' in person && person.account === name)
    if (member !== undefined) {
      await admin('mara', 'POST /people', { ...member, password: this.#secrets.password })
    }
    const tokens = (await listTokens(engine.store.read, { limit: 50, accountId: id })).items
    this.#members.push({ customer, id, tokens })
  }

  #callsOf(day: number): Happening[] {
    const { random } = this.#world
    const isOver = (ms: number) => ms >= this.#endMs - 60_000
    return this.#members.flatMap((member) => {
      const { customer } = member
      const times = callsIn(customer, day, this.#startMs + day * dayMs, random)
      return times.flatMap((atMs) => {
        if (isOver(atMs)) return []
        const caller = this.#callerOf(member)
        const { kind } = demoModel(caller.use.model)
        const isTask = kind === 'video' || kind === 'image'
        return [
          {
            atMs,
            run: async () => (isTask ? this.#task(member, caller) : this.#call(caller)),
          },
        ]
      })
    })
  }

  #callerOf({ customer, id, tokens }: Member): Caller {
    const { random } = this.#world
    const { name, team } = random.weighted(customer.tokens)
    const tokenId = tokens.find((token) => token.name === name)!.id
    return { customer, accountId: id, tokenId, team, use: random.weighted(customer.uses) }
  }

  async #call(caller: Caller): Promise<void> {
    const { requestId, written } = makeCall(this.#world, caller, this.#incident)
    if (requestId !== '' && caller.customer.name === 'isar-stadtwerke') {
      this.#made.requestId = requestId
    }
    await this.#write(written)
  }

  #task(member: Member, caller: Caller): void {
    const token = member.tokens.find(({ id }) => id === caller.tokenId)!
    const started = startTask(this.#world, caller, token)
    if (started === undefined) return
    this.#running.push(started)
    this.#running.sort((a, b) => a.endMs - b.endMs)
  }

  /** What people do on this day, and what goes wrong. */
  #planned(day: number): Happening[] {
    const doing = (hour: number, run: () => Promise<unknown>, minute = 0): Happening => ({
      atMs: this.#at(day, hour, minute),
      run: async () => {
        await this.#settle()
        await run()
      },
    })
    const list = [doing(7, () => this.#topUp(), 30)]
    const date = new Date(this.#at(day, 9)).getUTCDate()
    if (date === 1) list.push(doing(9, () => this.#closeMonth()))
    for (const each of this.#deeds()) {
      if (each.day === day) list.push(doing(each.hour, each.run, each.minute))
    }
    return list.filter(({ atMs }) => atMs < this.#endMs)
  }

  #deeds() {
    const { admin } = this.#world
    const last = historyDays - 1
    const { fromMs, untilMs } = this.#incident
    const timeOf = (ms: number) => {
      const minutes = Math.floor((ms - this.#startMs) / 60_000)
      return {
        day: Math.floor(minutes / 1_440),
        hour: Math.floor((minutes % 1_440) / 60),
        minute: minutes % 60,
      }
    }
    const sonnet = { model: 'claude-sonnet-4.5', unit: 'token' }
    const cheaper = { input: '3.00', output: '15.00', cache_read: '0.30' }
    return [
      {
        day: 20,
        hour: 8,
        run: () => admin('mara', 'POST /prices', { ...sonnet, per_million: cheaper }),
      },
      { ...timeOf(fromMs + 90_000), run: () => this.#raise() },
      { ...timeOf(untilMs + 40_000), run: () => this.#resolve() },
      { day: last - 10, hour: 9, minute: 40, run: () => this.#refundTask() },
      { day: last - 10, hour: 10, minute: 5, run: () => this.#refundCall() },
      { day: last - 8, hour: 11, run: () => this.#makeCodes() },
      { day: last - 5, hour: 8, minute: 20, run: () => this.#invite('sakura-learning') },
      { day: last - 4, hour: 6, run: () => admin('finn', 'POST /costs', raisedCost) },
      { day: last - 2, hour: 13, run: () => this.#invite('isar-stadtwerke') },
      { day: last - 1, hour: 15, run: () => this.#schedulePrice() },
    ]
  }

  async #topUp(): Promise<void> {
    const { admin, engine } = this.#world
    for (const { customer, id } of this.#members) {
      const whole = parseNanos(customer.credit.toFixed(2))!
      const [paid, when] = customer.isLate ? [partNanos, partWhenNanos] : [whole, whole / 3n]
      if (availableNanos(engine.ledger.funds(id)) > when) continue
      const amount = formatNanos(paid)
      await admin('finn', `POST /accounts/${id}/credits`, { amount, note: 'bank transfer' })
    }
  }

  async #closeMonth(): Promise<void> {
    const { admin, clock } = this.#world
    const month = monthPlus(monthAt(clock.ms), -1)
    await admin('finn', 'POST /bills/close-all', { month, note: 'closed by finance' })
  }

  async #raise(): Promise<void> {
    const { engine, clock } = this.#world
    const { id, name } = this.#failing()
    const message = `channel '${name}' is down: its circuit is open: calls fail`
    const alert = { kind: 'channel_down', subject: id, message, atMs: clock.ms }
    await engine.store.tx((tx) => raiseAlert(tx, alert))
  }

  async #resolve(): Promise<void> {
    const { engine, clock } = this.#world
    const { id } = this.#failing()
    await engine.store.tx((tx) => resolveAlerts(tx, 'channel_down', id, clock.ms))
  }

  #failing = () =>
    this.#world.engine.catalog.channels.find(({ name }) => name === this.#incident.channel)!

  async #refundTask(): Promise<void> {
    const { taskId } = this.#made
    const reason = 'the prompt was sent twice by our own retry script'
    if (taskId !== undefined) {
      await this.#world.admin('finn', `POST /tasks/${taskId}/refunds`, { reason })
    }
  }

  async #refundCall(): Promise<void> {
    const { requestId } = this.#made
    if (requestId === undefined) return
    const { charge } = await this.#world.admin('finn', `GET /requests/${requestId}`)
    const half = formatNanos(parseNanos(charge)! / 2n)
    const order = { amount: half, reason: 'goodwill: answered slowly during the incident' }
    await this.#world.admin('finn', `POST /requests/${requestId}/refunds`, order)
  }

  #makeCodes = () =>
    this.#world.admin('mara', 'POST /codes', { amount: '25.00', count: 5, note: 'trade fair' })

  #invite(account: string): Promise<unknown> {
    const { email } = customers.find(({ name }) => name === account)!.profile
    return this.#world.admin('mara', 'POST /invitations', { role: 'member', account, email })
  }

  /** From the next Monday on. */
  #schedulePrice(): Promise<unknown> {
    const today = new Date(this.#endMs)
    const days = ((8 - today.getUTCDay()) % 7) + (today.getUTCDay() === 1 ? 7 : 0)
    const effective_from = new Date(
      Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + days),
    ).toISOString()
    const per_million = { input: '0.22', output: '1.80', cache_read: '0.022' }
    const price = { model: 'gpt-5-mini', unit: 'token', per_million, effective_from }
    return this.#world.admin('mara', 'POST /prices', price)
  }
}

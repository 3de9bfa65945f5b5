// Pulls the statement of every channel that has reports, for each day that is over: once a day, whichever
// gateway does it, and all days since the last one after a pause. What does not match is an alert.
import type { StatementBody } from '../../billing/reconciliation/import-statement.ts'
import type { Channel } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { LoopService } from '../../lib/loop.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import { listStatements, type Statement } from '../../store/ledger/statements.ts'
import { claimTurn, endTurn, getMeta, setMeta } from '../../store/sql/meta.ts'
import type { Offers } from '../base-deps.ts'
import { type PullDeps, pullStatement } from './pull-statement.ts'

const everyMs = 600_000
const dayMs = 86_400_000
/** Providers report a day some time after it is over. */
const delayMs = 2 * 3_600_000
/** Reports reach back for about so long. */
const maxDaysBack = 30
/** For which a gateway that pulls has the turn of a channel. */
const turnMs = 900_000

type PullerDeps = PullDeps & Pick<Offers, 'catalog'>

export class StatementPuller extends LoopService {
  readonly #deps: PullerDeps

  constructor(deps: PullerDeps) {
    const failure = 'statements could not be pulled'
    super({ name: 'statement-puller', everyMs, firstMs: 60_000, log: deps.log, failure })
    this.#deps = deps
  }

  protected override run(): Promise<void> {
    return this.round()
  }

  async round(): Promise<void> {
    const { catalog, clock, store } = this.#deps
    const lastDay = Math.floor((clock.nowMs() - delayMs) / dayMs) - 1
    for (const channel of catalog.channels) {
      if (channel.billing === undefined) continue
      const known = await getMeta(store.read, keyOf(channel.name))
      // A channel begins with yesterday.
      const next = known === undefined ? lastDay : Number(known) + 1
      for (let day = Math.max(next, lastDay - maxDaysBack + 1); day <= lastDay; day++) {
        if (!(await this.#isOurs(channel)) || !(await this.#pull(channel, day))) break
      }
    }
  }

  /** One gateway at a time; a claim lapses, because who made it may have died. */
  #isOurs({ name }: Channel): Promise<boolean> {
    const { store, clock } = this.#deps
    const turn = { key: `statement_turn ${name}`, nowMs: clock.nowMs(), forMs: turnMs }
    return store.tx((tx) => claimTurn(tx, turn))
  }

  /** False: the day is tried again later. The statement and the mark are two writes: it is looked for first. */
  async #pull(channel: Channel, day: number): Promise<boolean> {
    const { store, log } = this.#deps
    const period = { fromMs: day * dayMs, untilMs: (day + 1) * dayMs }
    const text = new Date(period.fromMs).toISOString().slice(0, 10)
    const name = `${channel.billing!.kind} ${text}`
    const { items } = await listStatements(store.read, { limit: 100, channel: channel.name })
    const made =
      items.find((each) => each.name === name) ??
      (await pullStatement(this.#deps, channel, period, name))
    if (made instanceof Refusal) {
      log.warn('a statement could not be pulled', { channel: channel.name, error: made.message })
      return false
    }
    await this.#alert(made, text)
    await store.tx(async (tx) => {
      await setMeta(tx, keyOf(channel.name), String(day))
      await endTurn(tx, `statement_turn ${channel.name}`)
    })
    return true
  }

  async #alert({ id, channel, body }: Statement, day: string): Promise<void> {
    const { outcomes } = JSON.parse(body) as StatementBody
    const lines = Object.entries(outcomes)
      .filter(([outcome, sum]) => outcome !== 'matched' && outcome !== 'loss' && sum.lines > 0)
      .map(([outcome, sum]) => `${sum.lines} ${outcome}`)
    if (lines.length === 0) return
    const { store, clock } = this.#deps
    const message = `statement ${id} of channel '${channel}' for ${day} does not match: ${lines.join(', ')}`
    const alert = { kind: 'statement', subject: `${channel} ${day}`, message, atMs: clock.nowMs() }
    await store.tx((tx) => raiseAlert(tx, alert))
  }
}

const keyOf = (channel: string): string => `statement_pulled ${channel}`

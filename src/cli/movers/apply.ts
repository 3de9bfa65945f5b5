// Makes what a plan says through the admin API: what is there already stays as it is, so that a second run
// changes nothing and one that was killed is finished by the next.
import type { z } from 'zod'
import { channelCreation } from '../../admin/catalog/channel-body-schema.ts'
import { tokenCreation } from '../../admin/people/token-body-schema.ts'
import {
  accountDeclaration,
  plainModelDeclaration,
  priceDeclaration,
} from '../../contract/config-schema/index.ts'
import type { Admin } from '../terminal/admin-client.ts'
import { segment } from '../terminal/list.ts'
import { type Row, rowOf, rowsOf } from '../terminal/show.ts'
import { Refused } from '../terminal/stop.ts'
import type { Credit, Kind, Plan, Remark } from './plan.ts'

interface Carried {
  kind: Kind
  name: string
  /** Planned: a dry run would have made it. */
  state: 'made' | 'exists' | 'planned'
  amount?: string
}

export interface Report {
  source: string
  dry_run: boolean
  carried: Carried[]
  carried_differently: Remark[]
  not_carried: Remark[]
}

/** Rows of a list at a time, and prices of an import. */
const pageRows = 100
const listedPrices = 1_000
const maxLedgerPages = 20

export async function applyPlan(admin: Admin, plan: Plan, dryRun: boolean): Promise<Report> {
  const mover = new Mover(admin, plan, dryRun)
  await mover.models()
  await mover.channels()
  await mover.accounts()
  await mover.prices()
  await mover.tokens()
  return {
    source: plan.source,
    dry_run: dryRun,
    carried: mover.carried,
    carried_differently: plan.differently,
    not_carried: plan.left,
  }
}

class Mover {
  readonly carried: Carried[] = []
  readonly #admin: Admin
  readonly #plan: Plan
  readonly #dryRun: boolean

  constructor(admin: Admin, plan: Plan, dryRun: boolean) {
    this.#admin = admin
    this.#plan = plan
    this.#dryRun = dryRun
  }

  async models(): Promise<void> {
    const known = new Set((await this.#all('/models')).map(({ name }) => name))
    const bodies: [string, object][] = [
      ...[...this.#plan.models].filter(([name, body]) =>
        this.#isFit('model', name, plainModelDeclaration, body),
      ),
      ...[...this.#plan.aliases].map(([name, alias]): [string, object] => [name, { alias }]),
    ]
    for (const [name, body] of bodies) {
      await this.#make({ kind: 'model', name }, known.has(name), () =>
        this.#admin.ask('PUT', `/models/${segment(name)}`, { body }),
      )
    }
  }

  async channels(): Promise<void> {
    const known = new Set((await this.#all('/channels')).map(({ name }) => name))
    for (const body of this.#plan.channels) {
      const { name } = body
      if (!this.#isFit('channel', name, channelCreation, body)) continue
      await this.#make({ kind: 'channel', name }, known.has(name), () =>
        this.#admin.ask('POST', '/channels', { body }),
      )
    }
  }

  /** Each with its opening credit before the tokens that spend it. */
  async accounts(): Promise<void> {
    const known = new Set((await this.#all('/accounts')).map(({ name }) => name))
    for (const body of this.#plan.accounts) {
      const { name } = body
      if (!this.#isFit('account', name, accountDeclaration, body)) continue
      await this.#make({ kind: 'account', name }, known.has(name), () =>
        this.#admin.ask('POST', '/accounts', { body }),
      )
    }
    for (const credit of this.#plan.credits) {
      const { account: name, amount, note, key } = credit
      const isBooked = known.has(name) && (await this.#isBooked(credit))
      await this.#make({ kind: 'credit', name, amount }, isBooked, () =>
        this.#admin.ask('POST', `/accounts/${segment(name)}/credits`, {
          body: { amount, note },
          headers: { 'idempotency-key': key },
        }),
      )
    }
  }

  /** The key decides; this is for the report. */
  async #isBooked({ account, note }: Credit): Promise<boolean> {
    const entries = await this.#all(`/accounts/${segment(account)}/ledger`, maxLedgerPages)
    return entries.some((entry) => entry['kind'] === 'credit' && entry['note'] === note)
  }

  /** A price that an operator has set here is not replaced. */
  async prices(): Promise<void> {
    const keyOf = (model: unknown, account: unknown) => `${model} ${account ?? ''}`
    const set = (await this.#all('/prices')).filter(({ source }) => source !== 'builtin')
    const known = new Set(set.map(({ model, account }) => keyOf(model, account)))
    const fresh: Priced[] = []
    for (const body of this.#plan.prices) {
      const name = body.account === undefined ? body.model : `${body.model} for ${body.account}`
      if (!this.#isFit('price', name, priceDeclaration, body)) continue
      if (known.has(keyOf(body.model, body.account)))
        await this.#make({ kind: 'price', name }, true)
      else fresh.push({ name, body })
    }
    for (let at = 0; at < fresh.length; at += listedPrices) {
      await this.#importPrices(fresh.slice(at, at + listedPrices))
    }
  }

  /** A list is taken whole or not at all: one with a price that is refused is halved. */
  async #importPrices(list: readonly Priced[]): Promise<void> {
    const [first] = list
    if (first === undefined) return
    const text = JSON.stringify({ prices: list.map(({ body }) => body) })
    const ask = () => this.#admin.ask('POST', '/prices/import', { body: { format: 'yaml', text } })
    if (this.#dryRun || list.length === 1) {
      await this.#make({ kind: 'price', name: first.name }, false, ask)
      for (const { name } of list.slice(1)) await this.#make({ kind: 'price', name }, false, ask)
      return
    }
    try {
      await ask()
    } catch (error) {
      if (!isOfItem(error)) throw error
      const half = Math.ceil(list.length / 2)
      await this.#importPrices(list.slice(0, half))
      await this.#importPrices(list.slice(half))
      return
    }
    for (const { name } of list) this.carried.push({ kind: 'price', name, state: 'made' })
  }

  async tokens(): Promise<void> {
    const keyOf = (account: unknown, name: unknown) => `${account}/${name}`
    const listed = await this.#all('/tokens')
    const known = new Set(listed.map(({ account, name }) => keyOf(account, name)))
    for (const body of this.#plan.tokens) {
      const name = keyOf(body.account, body.name)
      if (!this.#isFit('token', name, tokenCreation, body)) continue
      await this.#make({ kind: 'token', name }, known.has(name), () =>
        this.#admin.ask('POST', '/tokens', { body }),
      )
    }
  }

  /** What the gateway would refuse is known without asking it. */
  #isFit(kind: Kind, name: string, schema: z.ZodType, body: unknown): boolean {
    const [issue] = schema.safeParse(body).error?.issues ?? []
    if (issue === undefined) return true
    this.#plan.leave(kind, name, `${issue.path.join('.')} ${issue.message}`.trim())
    return false
  }

  async #make(
    what: Omit<Carried, 'state'>,
    exists: boolean,
    make?: () => Promise<unknown>,
  ): Promise<void> {
    if (exists || make === undefined) this.carried.push({ ...what, state: 'exists' })
    else if (this.#dryRun) this.carried.push({ ...what, state: 'planned' })
    else {
      try {
        await make()
        this.carried.push({ ...what, state: 'made' })
      } catch (error) {
        if (!isOfItem(error)) throw error
        // A name or secret that is taken, or an opening credit that was booked with another amount.
        if (error.status === 409 || error.status === 422) {
          this.carried.push({ ...what, state: 'exists' })
        } else this.#plan.leave(what.kind, what.name, error.message)
      }
    }
  }

  async #all(path: string, maxPages = Number.POSITIVE_INFINITY): Promise<Row[]> {
    const rows: Row[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const page = rowOf(await this.#admin.ask('GET', path, { query: { limit: pageRows, cursor } }))
      rows.push(...rowsOf(page))
      const next = page['next_cursor']
      if (typeof next !== 'string' || next === '') return rows
      cursor = next
    }
    return rows
  }
}

interface Priced {
  name: string
  body: object
}

/** Refused for what it is; other failures concern all that follows. */
const isOfItem = (error: unknown): error is Refused =>
  error instanceof Refused && [400, 404, 409, 413, 422].includes(error.status)

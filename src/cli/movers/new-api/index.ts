// new-api as a plan: users, tokens, channels and ratios of its database.
import type { Context } from '../../terminal/command.ts'
import { misuse } from '../../terminal/stop.ts'
import { dollarRate } from '../money.ts'
import { Plan } from '../plan.ts'
import { numberIn, type Row, type Tables, textIn } from '../rows.ts'
import { readTables } from '../tables.ts'
import { addChannels } from './channels.ts'
import { addCustomers } from './customers.ts'
import { addPrices } from './prices.ts'
import { type QuotaReader, quotaReader } from './quota.ts'

const tableNames = ['users', 'tokens', 'channels', 'options', 'redemptions', 'user_subscriptions']

export async function planNewApi(context: Context): Promise<Plan> {
  const plan = new Plan('new-api')
  const tables = await readTables(context.line.text('database')!, tableNames)
  for (const name of ['users', 'tokens', 'channels']) {
    if (!tables.has(name)) throw misuse(`this is no database of new-api: it has no table ${name}`)
  }
  const options = new Map(
    (tables.get('options') ?? []).map((row) => [textIn(row, 'key'), textIn(row, 'value')]),
  )
  const rate = await dollarRate(context)
  const quota = quotaReader(options, rate)
  const original = addChannels(plan, tables.get('channels')!)
  const accounts = addCustomers(plan, tables.get('users')!, tables.get('tokens')!, quota)
  addPrices(plan, { options, rate, original, accounts })
  nameRest(plan, tables, quota)
  return plan
}

function nameRest(plan: Plan, tables: Tables, quota: QuotaReader): void {
  const nowSeconds = Date.now() / 1_000
  const codes = (tables.get('redemptions') ?? []).filter(
    (row) =>
      row['deleted_at'] == null &&
      numberIn(row, 'status') === 1 &&
      // 0: it does not expire.
      (numberIn(row, 'expired_time') || Infinity) >= nowSeconds,
  )
  if (codes.length > 0) {
    const reason = `${codes.length} codes that are not redeemed, worth ${sumOf(codes, 'quota', quota)}: make new ones`
    plan.leave('setting', 'redemptions', reason)
  }
  const running = (tables.get('user_subscriptions') ?? []).filter(
    (row) => textIn(row, 'status') !== 'cancelled' && (numberIn(row, 'end_time') ?? 0) > nowSeconds,
  )
  for (const row of running) {
    const left = (numberIn(row, 'amount_total') ?? 0) - (numberIn(row, 'amount_used') ?? 0)
    const amount = quota(Math.max(left, 0)) ?? 'more than an account can have'
    const reason = `a subscription with ${amount} left, which would lapse: credit it by hand`
    plan.leave('credit', `user ${numberIn(row, 'user_id')}`, reason)
  }
  const people = tables.get('users')!.length
  plan.leave('setting', 'people', `${people} sign-ins: invite people anew`)
}

function sumOf(rows: readonly Row[], column: string, quota: QuotaReader): string {
  const total = rows.reduce((sum, row) => sum + (numberIn(row, column) ?? 0), 0)
  return quota(total) ?? 'a large amount'
}

// Charges over a period by a tag or by end user, and by other keys beside it. What is not tagged is
// what remains of all charges, so the rows always add up to them.

import { nameOfKey, shownValue, type TagKey } from '../../contract/tags/index.ts'
import { ensure } from '../../lib/ensure.ts'
import type { Dialect, Tx } from '../../store/index.ts'
import { hourMs, type MoneySum, sumMoney } from '../../store/proof/hourly-totals.ts'
import {
  crowdedHours,
  sumTags,
  sumTagsOfLedger,
  type TagDimension,
  type TagQuery,
  type TagSum,
} from '../../store/proof/tag-totals.ts'
import { grouped, namesOf } from '../bills/bill.ts'
import {
  dimensions,
  rowOf,
  type Usage,
  type UsageKey,
  type UsageQuestion,
  values,
} from './usage-rows.ts'

interface TaggedQuestion extends UsageQuestion {
  dialect: Dialect
  tagKey: TagKey
  /** Every value by its own, however many; of one account. Otherwise, the rest of an hour is `*`. */
  isExact?: boolean
}

/** Keys that hourly totals by tag do not have. */
export const untaggedKeys: readonly UsageKey[] = ['tier', 'price']

/** A sum, and the value of its tag; absent: it has none. */
type Tagged = MoneySum & { value?: string }

/** All reads of `db` must see the same moment. Rows are in order of the tag and the other keys. */
export async function sumTaggedUsage(db: Tx, asked: TaggedQuestion): Promise<Usage> {
  const { accountId, fromMs, untilMs, by, tokenId, tagKey, dialect } = asked
  const wanted = new Set<TagDimension>(['unit'])
  for (const key of by) wanted.add(dimensions[key] as TagDimension)
  if (tokenId !== undefined) wanted.add('token')
  const query = { dialect, accountId, fromMs, untilMs, name: nameOfKey(tagKey), by: [...wanted] }
  const isOwn = (sum: MoneySum) => tokenId === undefined || sum.tokenId === tokenId
  const tagged = (asked.isExact ? await exactly(db, query) : await sumTags(db, query)).filter(isOwn)
  const all = await sumMoney(db, { accountId, fromMs, untilMs, by: ['kind', ...wanted] })
  const charges = all.filter((sum) => sum.kind === 'charge' && isOwn(sum))
  const keyOf = (sum: Tagged) => by.map((key) => values[key](sum))
  const sums: Tagged[] = [...tagged, ...remainders(charges, tagged, query.by)]
  const names = by.includes('token') ? await namesOf(db, charges) : new Map<string, string>()
  return {
    total: rowOf(charges, [], names),
    rows: grouped(sums, (sum: Tagged) => [sum.value ?? null, ...keyOf(sum)]).map((group) => ({
      ...shownValue(tagKey, (group[0] as Tagged).value),
      ...rowOf(group, by, names),
    })),
  }
}

/** Hours with more values than totals keep are summed from the ledger. */
async function exactly(db: Tx, query: TagQuery): Promise<TagSum[]> {
  const { accountId, by } = query
  ensure(accountId !== undefined, 'exact sums are of one account')
  const crowded = new Set(await crowdedHours(db, { ...query, accountId }))
  if (crowded.size === 0) return sumTags(db, query)
  const hourly = { ...query, accountId, by: [...new Set<TagDimension>([...by, 'hour'])] }
  const kept = (await sumTags(db, hourly)).filter(({ hourMs: at }) => !crowded.has(at!))
  const fromMs = Math.min(...crowded)
  const untilMs = Math.max(...crowded) + hourMs
  const read = await sumTagsOfLedger(db, { ...hourly, fromMs, untilMs })
  return [...kept, ...read.filter(({ hourMs: at }) => crowded.has(at!))]
}

const fields = {
  account: 'accountId',
  hour: 'hourMs',
  token: 'tokenId',
  model: 'model',
  unit: 'unit',
} as const satisfies Record<TagDimension, keyof MoneySum>

const amounts = [
  'entries',
  'estimated',
  'quantity',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const

/** What is left of these charges without the tagged ones. */
function remainders(
  charges: readonly MoneySum[],
  tagged: readonly TagSum[],
  by: readonly TagDimension[],
): MoneySum[] {
  const keyOf = (sum: MoneySum) => by.map((each) => sum[fields[each]]).join('\u001f')
  const left = new Map(charges.map((sum) => [keyOf(sum), { ...sum }]))
  for (const sum of tagged) {
    const rest = left.get(keyOf(sum))
    ensure(rest !== undefined, 'a tagged charge is one of all charges')
    rest.amountNanos -= sum.amountNanos
    for (const amount of amounts) rest[amount] -= sum[amount]
  }
  return [...left.values()].filter(({ entries }) => entries > 0)
}

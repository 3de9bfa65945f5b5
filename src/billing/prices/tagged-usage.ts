// Charges over a period by a tag or by end user, and by other keys beside it. What is not tagged is
// what remains of all charges, so the rows always add up to them.

import { nameOfKey, shownValue, type TagKey } from '../../contract/tags/index.ts'
import { maxTotalNames, shownName } from '../../contract/totals.ts'
import { ensure } from '../../lib/ensure.ts'
import { mapInTurns } from '../../lib/turns.ts'
import type { Tx } from '../../store/index.ts'
import { dayMs, hourMs } from '../../store/proof/grains.ts'
import { addSum, mergeSums, sumKey } from '../../store/proof/merge-sums.ts'
import { topValues } from '../../store/proof/top-names.ts'
import {
  type MoneySum,
  sumMoney,
  sumTags,
  type TagDimension,
  type TagQuery,
  type TagSum,
} from '../../store/proof/totals.ts'
import { grouped, namesOf } from '../bills/bill.ts'
import { foldedIn, hasManyNames, keptNames, maxSums, noNames, shareOf } from './bounded-sums.ts'
import {
  chargesOf,
  dimensions,
  rowOf,
  type Usage,
  type UsageKey,
  type UsageQuestion,
  values,
} from './usage-rows.ts'

interface TaggedQuestion extends UsageQuestion {
  tagKey: TagKey
}

/** Keys that hourly totals by tag do not have. */
export const untaggedKeys: readonly UsageKey[] = ['tier', 'price', 'channel']

/** A sum, and the value of its tag; absent: it has none. */
type Tagged = MoneySum & { value?: string }

/** All reads of `db` must see the same moment. Rows are in order of the tag and the other keys. */
export async function sumTaggedUsage(db: Tx, asked: TaggedQuestion): Promise<Usage> {
  const { accountId, fromMs, untilMs, by, tokenId, tagKey, withCosts } = asked
  const wanted = new Set<TagDimension>(['unit'])
  for (const key of by) wanted.add(dimensions[key] as TagDimension)
  const inDays = !by.includes('hour')
  const question = { accountId, fromMs, untilMs, tokenId, by: [...wanted], withCosts, inDays }
  const query = { ...question, name: nameOfKey(tagKey) }
  const { tagged, charges } =
    (await readSums(db, query, {})) ??
    (await readSums(db, query, await fewerNames(db, query))) ??
    (await readSums(db, query, { kept: noNames, keptValues: [] }, Infinity))!
  const keyOf = (sum: Tagged) => by.map((key) => values[key](sum))
  const sums: Tagged[] = [...tagged, ...remainders(charges, tagged, query.by)]
  const names = by.includes('token') ? await namesOf(db, charges) : new Map<string, string>()
  const groups = grouped(sums, (sum: Tagged) => [nameOf(sum), ...keyOf(sum)])
  return {
    total: rowOf(charges, [], names, withCosts),
    rows: await mapInTurns(groups, (group) => ({
      ...shownValue(tagKey, (group[0] as Tagged).value),
      ...rowOf(group, by, names, withCosts),
    })),
  }
}

const nameOf = ({ value }: Tagged): string | null => (value === undefined ? null : shownName(value))

type Fewer = Pick<TagQuery, 'kept' | 'keptValues'>

/** The tagged charges and all of them, by the same dimensions. Undefined: too many. */
async function readSums(db: Tx, query: TagQuery, fewer: Fewer, max = maxSums) {
  const limit = max === Infinity ? undefined : max + 1
  const tagged = await sumTags(db, { ...query, ...fewer, limit })
  if (tagged.length > max) return undefined
  const values = new Set(tagged.map(({ value }) => value))
  if (values.size > maxTotalNames + 1) return undefined
  const by = ['kind' as const, ...query.by]
  const all = await sumMoney(db, { ...query, ...fewer, by, limit })
  if (all.length > max || hasManyNames(all)) return undefined
  return { tagged, charges: mergeSums(chargesOf(all, query.withCosts), query.by) }
}

async function fewerNames(db: Tx, query: TagQuery): Promise<Fewer> {
  const stepMs = query.inDays === true ? dayMs : hourMs
  const share = shareOf(query, foldedIn(query.by).length + 1, stepMs)
  return {
    kept: await keptNames(db, query, share),
    keptValues: await topValues(db, query.name, query, share - 1),
  }
}

/** What is left of these charges without the tagged ones. */
function remainders(
  charges: readonly MoneySum[],
  tagged: readonly TagSum[],
  by: readonly TagDimension[],
): MoneySum[] {
  const left = new Map(charges.map((sum) => [sumKey(sum, by), { ...sum }]))
  for (const sum of tagged) {
    const rest = left.get(sumKey(sum, by))
    ensure(rest !== undefined, 'a tagged charge is one of all charges')
    addSum(rest, sum, -1)
  }
  return [...left.values()].filter(
    ({ entries, costNanos, refundNanos }) => entries > 0 || costNanos !== 0n || refundNanos !== 0n,
  )
}

// The prices in force. A price is never edited: a newer version takes over, and a call keeps the
// version it was admitted with. An account's own price wins over the general one; within either
// list declared prices win over the admin API's, those over built-in ones. A book of costs has a list
// for each channel, by its name, and no general one.
import type { Source } from '../../contract/catalog.ts'
import { hasBegun, type Price, type PriceTerms } from '../../contract/price.ts'

export interface PriceBook {
  /** What this account, or any account, pays now; undefined: the model cannot be called. */
  current(model: string, accountId?: string): Price | undefined
  /** What it paid at a moment. */
  at(model: string, accountId: string, atMs: number): Price | undefined
  /** The version of one list alone: the account's own, or the general one. */
  listed(model: string, accountId?: string): Price | undefined
  /** The version of a list that was in force at a moment; one made since then where none was. */
  listedAt(model: string, listId: string, atMs: number): Price | undefined
  /** The version of the general list that was in force then. */
  generalAt(model: string, ms: number): Price | undefined
  /** The version that takes over for this account, and when; undefined: none is known. */
  next(model: string, accountId?: string): Price | undefined
  /** Any version, also a superseded one. */
  byId(id: string): Price | undefined
  /** Versions in force and upcoming in each list, by model, account and start. */
  active(): Price[]
  /** Names of the accounts with their own price for a model now. */
  ownersOf(model: string): string[]
  /** Whether some model may be free, now or later. */
  readonly hasFree: boolean
  /** When the next upcoming version starts; undefined: there is none. */
  nextStartMs(): number | undefined
}

const rank: Readonly<Record<Source, number>> = { builtin: 0, api: 1, file: 2 }

type Lists = Map<string, Price[]>

/** Not a valid account id. */
const generalId = ''

/** `declared`: models that still have a price in the file; older declared prices of others end. */
export function createPriceBook(
  versions: readonly Price[],
  declared: ReadonlySet<string>,
  nowMs: () => number,
): PriceBook {
  const byId = new Map(versions.map((price) => [price.id, price]))
  const kept = versions.filter(({ source, model }) => source !== 'file' || declared.has(model))
  const owners = Map.groupBy(kept, ({ account, channel }) => channel ?? account?.id ?? generalId)
  const ofAccounts = new Map([...owners].map(([id, list]) => [id, listsOf(list)]))
  const general = ofAccounts.get(generalId) ?? new Map<string, Price[]>()
  ofAccounts.delete(generalId)
  // Most gateways have no such price: their calls must not pay for the look-up.
  const anyOwn = ofAccounts.size > 0
  const own = (model: string, accountId = generalId): Price | undefined =>
    begun(ofAccounts.get(accountId)?.get(model), nowMs())
  const isOwn = (price: Price | undefined): price is Price =>
    price !== undefined && price.terms.unit !== 'default'
  return {
    current(model, accountId) {
      const price = anyOwn ? own(model, accountId) : undefined
      return isOwn(price) ? price : begun(general.get(model), nowMs())
    },
    at(model, accountId, atMs) {
      const price = inForceAt(ofAccounts.get(accountId)?.get(model), atMs, nowMs())
      return isOwn(price) ? price : inForceAt(general.get(model), atMs, nowMs())
    },
    listed: (model, accountId) =>
      accountId === undefined ? begun(general.get(model), nowMs()) : own(model, accountId),
    listedAt: (model, listId, atMs) => inForceAt(ofAccounts.get(listId)?.get(model), atMs, nowMs()),
    generalAt: (model, ms) => oldestAt(general.get(model), ms),
    byId: (id) => byId.get(id),
    next: (model, id = generalId) =>
      nextOf(ofAccounts.get(id)?.get(model), general.get(model), nowMs()),
    active: () => activeIn([general, ...ofAccounts.values()], nowMs()),
    ownersOf: (model) => [...ofAccounts.keys()].flatMap((id) => ownerOf(own(model, id))).sort(),
    hasFree: kept.some(({ terms }) => mayBeFree(terms)),
    nextStartMs: () => nextStartMs(kept, nowMs()),
  }
}

const activeIn = (all: readonly Lists[], now: number): Price[] =>
  all.flatMap((lists) => [...lists.values()].flatMap((list) => active(list, now))).sort(byName)

function nextStartMs(prices: readonly Price[], nowMs: number): number | undefined {
  let next = Number.POSITIVE_INFINITY
  for (const price of prices) {
    if (!hasBegun(price, nowMs)) next = Math.min(next, price.effectiveFromMs)
  }
  return Number.isFinite(next) ? next : undefined
}

function mayBeFree(terms: PriceTerms): boolean {
  switch (terms.unit) {
    case 'token':
      return terms.tiers.some(({ inputNanos }) => inputNanos === 0n)
    case 'image':
      return 'perImageNanos' in terms
        ? terms.perImageNanos === 0n
        : Object.values(terms.perSizeNanos).includes(0n)
    case 'video_second':
      return Object.values(terms.perSecondNanos).includes(0n)
    case 'video_token':
      return terms.perMillionNanos === 0n
    case 'search':
    case 'character':
    case 'audio_second':
      return terms.rateNanos === 0n
    // Only at an interface whose calls may be free in any case.
    case 'free':
    case 'default':
      return false
  }
}

function listsOf(versions: readonly Price[]): Lists {
  const lists = Map.groupBy(versions, ({ model }) => model)
  for (const list of lists.values()) list.sort(newestFirst)
  return lists
}

function begun(list: readonly Price[] | undefined, now: number): Price | undefined {
  if (list === undefined) return undefined
  for (const price of list) if (hasBegun(price, now)) return price
  return undefined
}

const inForceAt = (list: readonly Price[] | undefined, atMs: number, now: number) =>
  list?.find((each) => each.effectiveFromMs <= atMs) ?? begun(list, now)

const ownerOf = (price: Price | undefined): string[] =>
  price?.account === undefined || price.terms.unit === 'default' ? [] : [price.account.name]

/** The oldest one for what was before it. */
const oldestAt = (list: readonly Price[] = [], ms: number): Price | undefined =>
  list.find(({ effectiveFromMs }) => effectiveFromMs <= ms) ?? list.at(-1)

/** The version in force, and upcoming ones that will be: a lower source never takes over. */
function active(list: readonly Price[], now: number): Price[] {
  const current = begun(list, now)
  const minRank = current === undefined ? 0 : rank[current.source]
  const starts = new Set<number>()
  const coming = list.filter((price) => {
    const { effectiveFromMs: ms, source } = price
    if (hasBegun(price, now) || rank[source] < minRank || starts.has(ms)) return false
    starts.add(ms)
    return true
  })
  return current === undefined ? coming : [current, ...coming]
}

/** An account that has a price of its own is not concerned by the general ones. */
function nextOf(own: readonly Price[] = [], general: readonly Price[] = [], now: number) {
  const isOwn = (begun(own, now)?.terms.unit ?? 'default') !== 'default'
  const lists = isOwn ? [own] : [own, general]
  const upcoming = lists.flatMap((list) => active(list, now).filter((each) => !hasBegun(each, now)))
  return upcoming.sort((a, b) => a.effectiveFromMs - b.effectiveFromMs)[0]
}

const newestFirst = (a: Price, b: Price): number =>
  rank[b.source] - rank[a.source] || b.effectiveFromMs - a.effectiveFromMs || (a.id < b.id ? 1 : -1)

const byName = (a: Price, b: Price): number =>
  compare(a.model, b.model) ||
  compare(a.account?.name ?? '', b.account?.name ?? '') ||
  a.effectiveFromMs - b.effectiveFromMs

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

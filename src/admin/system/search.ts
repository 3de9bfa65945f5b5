// One search over everything that has a name: accounts, tokens, people, models and channels, each kind for
// the roles that may list it. A member finds what is its account's own.
import type { Role, Viewer } from '../../contract/people.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Hit, searchAccounts, searchPeople, searchTokens } from '../../store/catalog/search.ts'
import { forAll } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { type SearchHit, searchHits, searchQuery } from './search-schema.ts'

/** Of each kind: more are found by a longer text. */
const maxHits = 8
const maxText = 100

interface Source {
  kind: SearchHit['kind']
  /** Besides the administrator. */
  roles: readonly Role[]
  find(engine: Engine, text: string, viewer: Viewer): Promise<readonly Hit[]> | readonly Hit[]
}

const sources: readonly Source[] = [
  {
    kind: 'account',
    roles: ['operator', 'finance'],
    find: ({ store }, text) => searchAccounts(store.read, text, maxHits),
  },
  {
    kind: 'token',
    roles: ['operator', 'member'],
    find: ({ store }, text, { accountId }) =>
      searchTokens(store.read, text, { limit: maxHits, accountId }),
  },
  {
    kind: 'person',
    roles: [],
    find: ({ store }, text) => searchPeople(store.read, text, maxHits),
  },
  {
    kind: 'model',
    roles: ['operator', 'finance', 'member'],
    find: ({ catalog }, text) =>
      named(
        [...catalog.models.keys()].map((name) => ({ id: name, name })),
        text,
      ),
  },
  {
    kind: 'channel',
    roles: ['operator'],
    find: ({ catalog }, text) => named(catalog.channels, text),
  },
]

/** Of what is in memory; the shortest names first. */
function named(all: Iterable<{ id: string; name: string }>, text: string): Hit[] {
  const wanted = text.toLowerCase()
  return [...all]
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, maxHits)
    .map(({ id, name }) => ({ id, name, account: null }))
}

async function search({
  engine,
  query,
  viewer,
}: Ask<{ query: typeof searchQuery }>): Promise<View<typeof searchHits>> {
  const text = (query.q ?? '').trim().slice(0, maxText)
  if (text === '' || viewer === undefined) return { items: [], next_cursor: null }
  const { role } = viewer
  const allowed = sources.filter(({ roles }) => role === 'administrator' || roles.includes(role))
  const found = await Promise.all(
    allowed.map(async ({ kind, find }) =>
      (await find(engine, text, viewer)).map((hit) => ({ kind, ...hit })),
    ),
  )
  return { items: found.flat(), next_cursor: null }
}

const route = routesOf({ tag: 'Search', thing: 'hit', permission: forAll })

export const searchRoutes = [
  route('GET /search', {
    id: 'search',
    summary: 'Find accounts, tokens, people, models and channels by a part of their name',
    description: 'Each kind is for the roles that may list it; of each there are a few at most.',
    query: searchQuery,
    answer: searchHits,
    returns: 'The kinds one after the other.',
    handle: search,
  }),
]

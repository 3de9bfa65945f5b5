// Calls that name objects stored upstream. This gateway must have issued each id to the account;
// the call then goes to the channel and key that hold the objects, and to no other.

import { nativeRoutes, type Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import { notKept, Refusal, unknownObject } from '../../contract/errors.ts'
import type { Reference, TextCall } from '../../contract/requests.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withField } from '../../lib/json/splice.ts'
import { openId, placeOf } from '../calls/object-ids.ts'
import { Tried } from '../routing/pick-route.ts'

interface Referred {
  /** With the upstream's own ids. */
  call: TextCall
  routes: readonly Route[]
  /** Keys that must not be used; undefined when any may. */
  tried: Tried | undefined
}

interface Opened extends Reference {
  /** The upstream's; undefined: not issued to this account. */
  upstreamId: string | undefined
  place: string | undefined
}

export function resolveReferences(
  seal: Seal,
  { token }: CallContext,
  call: TextCall,
  routes: readonly Route[],
): Referred | Refusal {
  const opened: Opened[] = []
  const isKept = routes.some(({ translated }) => !translated)
  for (const reference of call.references ?? []) {
    const own = openId(seal, token.accountId, reference.id)
    // An item that is included itself needs no id.
    if (own === undefined && reference.item === undefined) {
      return (isKept ? unknownObject : notKept)(reference.param)
    }
    opened.push({ ...reference, upstreamId: own?.id, place: own?.place })
  }
  const home = originOf(seal, opened, routes)
  if (home instanceof Refusal) return home
  const sent = { ...call, body: bodyWithIds(call, opened, home?.place) }
  if (home === undefined) return { call: sent, routes, tried: undefined }
  const { route, key } = home
  const tried = new Tried()
  for (const other of route.channel.keys) if (other !== key) tried.addKey(route.channel.id, other)
  return { call: sent, routes: nativeRoutes([route]), tried }
}

interface FoundOrigin {
  route: Route
  key: string
  place: string
}

/** Where the call has to go. Undefined: it refers to nothing upstream. */
function originOf(
  seal: Seal,
  opened: readonly Opened[],
  routes: readonly Route[],
): FoundOrigin | undefined | Refusal {
  const bare = opened.filter(({ item }) => item === undefined)
  const [first] = bare
  if (first === undefined) {
    const last = opened.findLast(({ place }) => place !== undefined)
    return last === undefined ? undefined : find(seal, last.place!, routes)
  }
  const elsewhere = bare.find(({ place }) => place !== first.place)
  if (elsewhere !== undefined) return unknownObject(elsewhere.param)
  return find(seal, first.place!, routes) ?? unknownObject(first.param)
}

function find(seal: Seal, place: string, routes: readonly Route[]): FoundOrigin | undefined {
  for (const route of routes) {
    if (route.translated) continue
    const { channel } = route
    for (const key of channel.keys.length === 0 ? [''] : channel.keys) {
      if (placeOf(seal, { channel, key }) === place) return { route, key, place }
    }
  }
  return undefined
}

/** The body for the upstream: with its own ids, and none of another upstream. */
function bodyWithIds(call: TextCall, opened: readonly Opened[], place: string | undefined): string {
  const isHere = (each: Opened) => each.place !== undefined && each.place === place
  // Whole strings only: inside another string a quote would be escaped.
  const spelled = ({ id }: Opened) => `"${id}"`
  if (opened.every((each) => isHere(each) && call.body.includes(spelled(each)))) {
    return opened.reduce(
      (body, each) => body.replaceAll(spelled(each), () => `"${each.upstreamId}"`),
      call.body,
    )
  }
  return rebuilt(
    call,
    new Map(opened.map((each) => [each.id, isHere(each) ? each.upstreamId : undefined])),
  )
}

function rebuilt({ body, fields }: TextCall, ids: ReadonlyMap<string, string | undefined>): string {
  const { previous_response_id: previous, input } = fields
  let text = body
  if (typeof previous === 'string') {
    text = withField(text, 'previous_response_id', JSON.stringify(ids.get(previous)))
  }
  if (!Array.isArray(input)) return text
  const items = input.map((item: unknown) => {
    if (!isObject(item) || item['id'] == null) return item
    // Undefined leaves the field out.
    return { ...item, id: ids.get(String(item['id'])) }
  })
  return withField(text, 'input', JSON.stringify(items))
}

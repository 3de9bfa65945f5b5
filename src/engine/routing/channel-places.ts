// The slots of a channel, one per concurrent call, and which call gets the next one. No account can
// have all of them; where several accounts wait, the one with the fewest comes first. Calls of low priority
// leave some free, and come last.

import type { Catalog } from '../../catalog/snapshot.ts'
import type { Channel } from '../../contract/catalog.ts'
import type { ChannelState } from './channel-state.ts'
import { lowPriority, type WaitingRoom } from './waiting-room.ts'

/** An account with places gets another while it has less than this many for each that stays free. */
const placesPerFree = 9

/** Calls of low priority leave the fourth part of the slots free. */
const freePart = 4

type Places = Pick<Channel, 'id' | 'maxConcurrency'>

/**
 * Whether an account gets one more place. Where there are several accounts, one of them gets at most
 * nine tenths of the places, and the last that is free is for an account that has none.
 */
export function hasPlace(
  { hasManyAccounts }: { hasManyAccounts: boolean },
  { maxConcurrency }: Places,
  channelState: ChannelState,
  accountId: string,
): boolean {
  const free = maxConcurrency - channelState.busy
  if (free <= 0) return false
  if (accountId === lowPriority) {
    return maxConcurrency === 1 || free > Math.ceil(maxConcurrency / freePart)
  }
  if (!hasManyAccounts || maxConcurrency === 1) return true
  const own = channelState.placesOf(accountId)
  return own === 0 || own < placesPerFree * (free - 1)
}

interface PlaceDeps {
  readonly catalog: Catalog
  readonly routing: { readonly waiting: WaitingRoom }
}

/** Frees a slot and gives it to the next waiting call. */
export function leavePlace(
  engine: PlaceDeps,
  channel: Places,
  channelState: ChannelState,
  accountId: string,
): void {
  channelState.leave(accountId)
  if (!engine.routing.waiting.isEmpty) giveOn(engine, channel, channelState)
}

function giveOn({ catalog, routing }: PlaceDeps, channel: Places, channelState: ChannelState) {
  routing.waiting.freed(channel.id, (account) => {
    if (!hasPlace(catalog, channel, channelState, account)) return undefined
    return account === lowPriority ? Number.MAX_SAFE_INTEGER : channelState.placesOf(account)
  })
}

// Which call gets a slot at a channel: all slots are used, and one account cannot take all.
import { expect, test } from 'bun:test'
import { hasPlace } from './channel-places.ts'
import { ChannelState } from './channel-state.ts'
import { lowPriority } from './waiting-room.ts'

const shared = { hasManyAccounts: true }
const channelOf = (maxConcurrency: number) => ({ id: 'chn_1', maxConcurrency })

/** How many slots this account gets if it takes all it can. */
function fill(channelState: ChannelState, places: number, accountId: string, catalog = shared) {
  let taken = 0
  while (hasPlace(catalog, channelOf(places), channelState, accountId)) {
    channelState.take(accountId)
    taken++
  }
  return taken
}

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [10, 9],
  [20, 18],
  [200, 180],
])('of %d places one account gets %d', (places, taken) => {
  expect(fill(new ChannelState(), places, 'acc_a')).toBe(taken)
})

test('the last place is for an account that has none', () => {
  const channelState = new ChannelState()
  expect(fill(channelState, 20, 'acc_a')).toBe(18)
  expect(fill(channelState, 20, 'acc_b')).toBe(1)
  expect(fill(channelState, 20, 'acc_c')).toBe(1)
  expect([channelState.busy, fill(channelState, 20, 'acc_d')]).toEqual([20, 0])
})

test('where there is one account only, it has all places', () => {
  expect(fill(new ChannelState(), 20, 'acc_a', { hasManyAccounts: false })).toBe(20)
})

test('places are given back to the account that had them', () => {
  const channelState = new ChannelState()
  fill(channelState, 20, 'acc_a')
  channelState.leave('acc_a')
  expect([channelState.busy, channelState.placesOf('acc_a')]).toEqual([17, 17])
  for (let i = 0; i < 17; i++) channelState.leave('acc_a')
  expect([channelState.busy, channelState.placesOf('acc_a')]).toEqual([0, 0])
})

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [10, 7],
  [200, 150],
])('of %d places calls of low priority get %d, whoever else there is', (places, taken) => {
  for (const hasManyAccounts of [true, false]) {
    expect(fill(new ChannelState(), places, lowPriority, { hasManyAccounts })).toBe(taken)
  }
})

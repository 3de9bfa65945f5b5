// Ids of upstream objects as callers see them: valid for their account only, and bound to a channel
// and key.
import { describe, expect, test } from 'bun:test'
import type { Channel } from '../../contract/catalog.ts'
import { createSeal } from '../../lib/crypto/seal.ts'
import { markFor, openId, placeOf } from './object-ids.ts'

const seal = createSeal(new Uint8Array(32).fill(7))
const channel = { id: 'chn_1' } as Channel
const home = { channel, key: 'k1' }
const given = `resp_1${markFor(seal, 'acc_1', home, 'resp_1')}`

describe('a marked id', () => {
  test('opens for its account and tells its place', () => {
    expect(openId(seal, 'acc_1', given)).toEqual({ id: 'resp_1', place: placeOf(seal, home) })
  })

  test('is the same every time, and another for every account, place and id', () => {
    expect(`resp_1${markFor(seal, 'acc_1', home, 'resp_1')}`).toBe(given)
    const others = [
      markFor(seal, 'acc_2', home, 'resp_1'),
      markFor(seal, 'acc_1', { channel, key: 'k2' }, 'resp_1'),
      markFor(seal, 'acc_1', { channel: { ...channel, id: 'chn_2' }, key: 'k1' }, 'resp_1'),
      markFor(seal, 'acc_1', home, 'resp_2'),
      markFor(createSeal(new Uint8Array(32)), 'acc_1', home, 'resp_1'),
    ]
    expect(new Set([given.slice('resp_1'.length), ...others]).size).toBe(6)
  })

  test('that another gateway marked before is opened by one layer', () => {
    const twice = given + markFor(seal, 'acc_1', home, given)
    expect(openId(seal, 'acc_1', twice)?.id).toBe(given)
  })

  test('opens for nobody else, and not when it was changed', () => {
    expect(openId(seal, 'acc_2', given)).toBeUndefined()
    for (let i = 0; i < given.length; i++) {
      const changed = given.slice(0, i) + (given[i] === 'a' ? 'b' : 'a') + given.slice(i + 1)
      expect(openId(seal, 'acc_1', changed)).toBeUndefined()
    }
    const odd = ['', 'resp_1', `${given} `, `${given}\n`, given.slice(1), 'x'.repeat(600) + given]
    for (const each of odd) expect(openId(seal, 'acc_1', each)).toBeUndefined()
  })
})

// The order in which members of a virtual model are tried.
import { expect, test } from 'bun:test'
import { seeded } from '../../../test/support/seeded.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Member, Model } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { membersInOrder } from './members.ts'

const model = (name: string, interfaces = ['chat']): Model => ({
  name,
  kind: 'text',
  interfaces,
  protocols: ['chat'],
  displayName: name,
  ownedBy: name,
  source: 'file',
})
const member = (name: string, weight?: number): Member => ({
  model: model(name),
  ...(weight !== undefined && { weight }),
})
const caller = (more: object = {}) => ({ token: {}, ...more }) as unknown as CallContext

function order(members: Member[], share = () => 0.5, ctx = caller()): string[] {
  const ordered = membersInOrder(ctx, { members }, 'chat', share)
  if (ordered instanceof Refusal) throw new Error(ordered.message)
  return ordered.map((each) => each.model.name)
}

test('without weights the order is as declared, and chance is not asked', () => {
  const none = () => {
    throw new Error('asked')
  }
  expect(order([member('a'), member('b'), member('c')], none)).toEqual(['a', 'b', 'c'])
})

test('with weights each is first as often as its weight says; the others follow in order', () => {
  const share = seeded(Number(process.env['TEST_SEED'] ?? 7))
  const members = [member('a', 1), member('plain'), member('b', 3), member('never', 0)]
  const firsts = new Map<string, number>()
  for (let i = 0; i < 4_000; i++) {
    const [first = '', ...others] = order(members, share)
    firsts.set(first, (firsts.get(first) ?? 0) + 1)
    expect(others).toEqual(['a', 'plain', 'b', 'never'].filter((name) => name !== first))
  }
  // Expected 1000 with a standard deviation of 27.
  expect([...firsts.keys()].sort()).toEqual(['a', 'b'])
  expect(Math.abs(firsts.get('a')! - 1_000)).toBeLessThan(150)
})

test('a caller that wants no other gets the first choice alone', () => {
  const members = [member('a'), member('b')]
  expect(order(members, undefined, caller({ token: { fallback: 'never' } }))).toEqual(['a'])
  expect(order(members, undefined, caller({ fallback: () => 'never' }))).toEqual(['a'])
  const wrong = refuse('invalid_request', 'no')
  const ctx = caller({ fallback: () => wrong })
  expect(membersInOrder(ctx, { members }, 'chat', () => 0)).toBe(wrong)
  // With one member there is nothing to refuse.
  expect(order([member('a')], undefined, ctx)).toEqual(['a'])
})

test('a member that the interface does not serve is no choice', () => {
  const other: Member = { model: { ...model('embeds', ['embeddings']), kind: 'embedding' } }
  expect(order([other, member('b')])).toEqual(['b'])
})

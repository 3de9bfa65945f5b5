// Tags as a header gives them, and as one text.
import { describe, expect, test } from 'bun:test'
import { Refusal } from '../errors.ts'
import {
  defaultTags,
  endUserIn,
  isTag,
  isTagKey,
  readTags,
  repeatedTags,
  tagIn,
  tagsView,
  withEndUser,
} from './index.ts'

const tagNames = ['team', 'job', 'a', 'b', 'c', 'd', 'constructor']
const token = { tagNames }

describe('a header', () => {
  test.each<[header: string | null, text: string | undefined]>([
    [null, undefined],
    ['', undefined],
    [' \t ', undefined],
    [',', undefined],
    ['team=red', 'team=red'],
    ['team=red,job=7', 'job=7,team=red'],
    [' team = red ,\tjob=7 ', 'job=7,team=red'],
    // Lines joined by the server, one of them empty.
    ['team=red, , job=7', 'job=7,team=red'],
    ['team=A-z0.9_:/@', 'team=A-z0.9_:/@'],
    [`team=${'x'.repeat(64)}`, `team=${'x'.repeat(64)}`],
    ['a=1,b=2,c=3,d=4,job=5', 'a=1,b=2,c=3,d=4,job=5'],
    ['constructor=x', 'constructor=x'],
  ])('%p gives %p', (header, text) => {
    expect(readTags(header, token)).toBe(text as string)
  })

  test.each([
    'team',
    'team=',
    '=red',
    'team=red=blue',
    'team=r ed',
    'team=röd',
    'team=red;job=7',
    `team=${'x'.repeat(65)}`,
    'Team=red',
    'other=red',
    'toString=red',
    '__proto__=red',
    '@=alice',
    'team=red,team=blue',
    'team=red,team=red',
    'a=1,b=2,c=3,d=4,job=5,team=6',
    '*=1',
  ])('%p is refused and named', (header) => {
    const refusal = readTags(header, token)
    expect(refusal).toBeInstanceOf(Refusal)
    expect((refusal as Refusal).code).toBe('invalid_request')
    expect((refusal as Refusal).extras.param).toBe('x-gateway-tags')
  })

  test('overrides the defaults of the token, name by name', () => {
    const tagDefaults = defaultTags({ team: 'red', job: '1' }, tagNames)!
    const own = { tagNames, tagDefaults }
    expect(readTags(null, own)).toBe('job=1,team=red')
    expect(readTags('', own)).toBe('job=1,team=red')
    expect(readTags('job=9,a=2', own)).toBe('a=2,job=9,team=red')
  })

  test('a default that the account no longer declares is not used', () => {
    expect(defaultTags({ team: 'red', gone: '1' }, tagNames)).toBe('team=red')
    expect(defaultTags({ gone: '1' }, tagNames)).toBeUndefined()
  })
})

test('work that is repeated keeps its tags and its end user, over the defaults of its token', () => {
  const tagDefaults = 'job=1,team=red'
  expect(repeatedTags(undefined, {})).toBeUndefined()
  expect(repeatedTags(undefined, { tagDefaults })).toBe('job=1,team=red')
  expect(repeatedTags('team=blue,@=a%20b', {})).toBe('team=blue,@=a%20b')
  expect(repeatedTags('team=blue,@=a%20b', { tagDefaults })).toBe('job=1,team=blue,@=a%20b')
  expect(repeatedTags('@=a%20b', { tagDefaults })).toBe('job=1,team=red,@=a%20b')
})

test('an end user is what a body names first, however it is spelled', () => {
  const bodies: [Record<string, unknown>, string | undefined][] = [
    [{}, undefined],
    [{ safety_identifier: 's', user: 'u', metadata: { user_id: 'm' } }, 's'],
    [{ user: 'u', metadata: { user_id: 'm' } }, 'u'],
    [{ metadata: { user_id: 'm' } }, 'm'],
    [{ safety_identifier: '', user: null, metadata: { user_id: 'm' } }, 'm'],
    [{ user: 7, metadata: 'none' }, undefined],
    [{ metadata: null }, undefined],
    [{ metadata: { user_id: { id: 'x' } } }, undefined],
  ]
  for (const [body, name] of bodies) expect([body, endUserIn(body)]).toEqual([body, name])
})

test('a text comes back as tags and end user', () => {
  const hostile = 'a,b=c\u0000\ud800 "ü"'
  const text = withEndUser('job=7,team=red', hostile)
  expect(tagsView(text)).toEqual({
    tags: { job: '7', team: 'red' },
    end_user: hostile.toWellFormed(),
  })
  expect(tagIn(text, 'team')).toBe('red')
  expect(tagIn(text, 'constructor')).toBeUndefined()
  expect(tagsView(withEndUser(undefined, 'x'))).toEqual({ tags: {}, end_user: 'x' })
  expect(tagsView(undefined)).toEqual({ tags: {}, end_user: null })
})

test('questions name a tag with its value, or a key', () => {
  expect(['team=red', 'team', 'team=', '=x', 'T=1', 'team=a=b'].map(isTag)).toEqual([
    ...[true, false, false, false, false, false],
  ])
  expect(['tag:team', 'end_user', 'tag:', 'tag:Team', 'team'].map(isTagKey)).toEqual([
    ...[true, true, false, false, false],
  ])
})

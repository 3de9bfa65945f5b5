// Values of one type in JSON from outside.
import { expect, test } from 'bun:test'
import { flagIn, numberIn, objectIn, objectsIn, textIn, textsIn } from './values.ts'

const holder = { text: 'a', number: 0, flag: false, object: {}, list: [1, 'b', {}, null, []] }

test('a value of the type is given, any other is as good as none', () => {
  expect([textIn(holder, 'text'), textIn(holder, 'number')]).toEqual(['a', undefined])
  expect([numberIn(holder, 'number'), numberIn(holder, 'text')]).toEqual([0, undefined])
  expect([flagIn(holder, 'flag'), flagIn(holder, 'absent')]).toEqual([false, undefined])
  expect([objectIn(holder, 'object'), objectIn(holder, 'list')]).toEqual([{}, undefined])
  expect([objectsIn(holder, 'list'), objectsIn(holder, 'object')]).toEqual([[{}], []])
  expect([textsIn(holder, 'list'), textsIn(holder, 'text')]).toEqual([['b'], []])
})

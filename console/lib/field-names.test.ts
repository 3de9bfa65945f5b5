// A name that is refused is met with one that would be taken.
import { expect, test } from 'bun:test'
import { proposedName } from './field-names.ts'

test.each([
  ['Fjord Films AS', 'fjord-films-as'],
  ['Łódź — Kino', 'odz-kino'],
  ['Café Olé', 'cafe-ole'],
  ['a.b_c', 'a.b_c'],
  ['华夏影视', ''],
  ['  -- ', ''],
  ['x'.repeat(80), 'x'.repeat(64)],
])('%j becomes %j', (typed, proposed) => {
  expect(proposedName(typed)).toBe(proposed)
})

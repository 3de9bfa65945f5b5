// Two texts, and what differs between them.
import { expect, test } from 'bun:test'
import { diffLines } from './line-diff.ts'

const told = (before: string, after: string) =>
  diffLines(before, after).map(({ sign, text }) => sign + text)

test('lines that both have stay, others are marked by whose they are', () => {
  expect(told('a\nb\nc\n', 'a\nx\nc\n')).toEqual([' a', '-b', '+x', ' c'])
  expect(told('a\nc\n', 'a\nb\nc\nd\n')).toEqual([' a', '+b', ' c', '+d'])
  expect(told('a\nb\nc\nd', 'b\nd\ne')).toEqual(['-a', ' b', '-c', ' d', '+e'])
  expect(told('same\n', 'same')).toEqual([' same'])
})

test('taking away what was added gives the one text, and what was removed the other', () => {
  const [before, after] = ['p\nq\nr\nq\ns\n', 'q\nr\nr\ns\nq\np\n']
  const lines = diffLines(before, after)
  const of = (sign: string) =>
    `${lines
      .filter((line) => line.sign !== sign)
      .map(({ text }) => text)
      .join('\n')}\n`
  expect([of('+'), of('-')]).toEqual([before, after])
})

test('texts too large to compare line by line are still whole', () => {
  const before = Array.from({ length: 2_100 }, (_, i) => `a${i}`).join('\n')
  const after = Array.from({ length: 2_100 }, (_, i) => `b${i}`).join('\n')
  const lines = diffLines(before, after)
  expect(lines).toHaveLength(4_200)
  expect(lines[0]).toEqual({ sign: '-', text: 'a0' })
})

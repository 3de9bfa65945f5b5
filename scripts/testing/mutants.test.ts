import { expect, test } from 'bun:test'
import { mutantsOf, withMutant } from './mutants.ts'

const faultsIn = (text: string): string[] =>
  mutantsOf('src/x.ts', text).map((mutant) => withMutant(text, mutant))

test.each([
  ['a comparison', 'f(a < b)', [';', 'f(a <= b)']],
  ['a sum', 'const c = a + b', ['const c = a - b']],
  ['a joined text is left alone', "const c = a + 'b'", []],
  ['a condition', 'const c = a ? b : d', ['const c = false ? b : d']],
  ['an if', 'if (a) b = c', ['if (false) b = c', 'if (a) ;']],
  ['a negation', 'const c = !a', ['const c = a']],
  ['an amount', 'const c = 5n', ['const c = 0n']],
  ['a bound', 'const c = Math.min(a, b)', ['const c = Math.max(a, b)']],
  ['what is awaited', 'await save(a)', [';']],
  ['what only types say', 'type A = { a: true } | 1; const b = c as 5', []],
])('%s', (_, text, expected) => {
  expect(faultsIn(text)).toEqual(expected)
})

test('says where a fault is', () => {
  const [mutant] = mutantsOf('src/x.ts', 'const a = b\nconst c = a && b')
  expect(mutant).toMatchObject({ line: 2, was: '&&', becomes: '||' })
})

// Every fence, shown failing over made-up files.
import { describe, expect, test } from 'bun:test'
import { circlesIn } from './circles.ts'
import { unusedExports } from './exports.ts'
import { ownFormats } from './formats.ts'
import { fullFolders, longFile, longFunctions, maxFileLines, maxFilesPerFolder } from './sizes.ts'
import type { SourceFile } from './sources.ts'
import { syntaxOf } from './syntax.ts'
import { vendorLines } from './vendors.ts'
import { oldIdentifiers, oldTexts, oldValues, partsOf, vagueLines } from './words.ts'

const file = (path: string, text: string): SourceFile => ({ path, text })
const syntaxes = (files: readonly SourceFile[]) =>
  new Map(files.map((each) => [each.path, syntaxOf(each)]))

test('formats of their own, in the console only and not in its formats', () => {
  const found = (path: string, line: string) => ownFormats(file(path, `// a\n${line}\n`))
  const lines = ['x.toFixed(2)', 'd.toLocaleString()', 'new Intl.NumberFormat()', 'at.slice(0, 10)']
  for (const line of lines) {
    expect(found('console/pages/a.tsx', line)).toEqual([`console/pages/a.tsx:2 ${line}`])
    expect(found('console/lib/format/a.ts', line)).toEqual([])
    expect(found('src/admin/a.ts', line)).toEqual([])
  }
})

describe('import circles', () => {
  test('are found through values, types, exports and dynamic imports', () => {
    const files = [
      file('src/a.ts', "import type { B } from './b.ts'"),
      file('src/b.ts', "export * from './c/c.ts'"),
      file('src/c/c.ts', "const a = await import('../a.ts')"),
      file('src/d.ts', "import { a } from './a.ts'\na()"),
    ]
    expect(circlesIn(files)).toEqual([['src/a.ts', 'src/b.ts', 'src/c/c.ts']])
  })

  test('are told apart', () => {
    const pair = (one: string, other: string) => [
      file(`src/${one}.ts`, `import './${other}.ts'`),
      file(`src/${other}.ts`, `import './${one}.ts'`),
    ]
    expect(circlesIn([...pair('a', 'b'), ...pair('c', 'd')])).toHaveLength(2)
    expect(circlesIn([file('src/a.ts', "import './b.ts'"), file('src/b.ts', '')])).toEqual([])
  })
})

describe('sizes', () => {
  const lines = (count: number) => '  f()\n'.repeat(count)

  test('of files', () => {
    expect(longFile(file('src/a.ts', lines(maxFileLines)))).toEqual([])
    expect(longFile(file('src/a.ts', lines(maxFileLines + 1)))).toEqual([
      `src/a.ts has ${maxFileLines + 1} lines`,
    ])
  })

  test.each([
    ['a function', 'function f() {\n', '}'],
    ['an arrow function', 'const f = () => {\n', '}'],
    ['a method', 'class A {\n f() {\n', '} }'],
    ['a method of an object', 'const a = {\nf() {\n', '} }'],
    ['an inner function', 'g(function f() {\n', '})'],
  ])('of %s', (_, opening, closing) => {
    const of = (count: number) =>
      longFunctions('src/a.ts', syntaxOf(file('src/a.ts', opening + lines(count) + closing)))
    expect(of(38)).toEqual([])
    expect(of(39)).toEqual([expect.stringMatching(/^src\/a\.ts:[12] f has 41 lines$/)])
  })

  test('of components, which are mostly markup', () => {
    const of = (name: string, count: number) => {
      const path = 'console/a.tsx'
      const text = `export function ${name}() {\n${lines(count)}}`
      return longFunctions(path, syntaxOf(file(path, text)))
    }
    expect(of('View', 78)).toEqual([])
    expect(of('View', 79)).toEqual(['console/a.tsx:1 View has 81 lines'])
    expect(of('useView', 78)).toEqual(['console/a.tsx:1 useView has 80 lines'])
  })

  test('of folders, by the files that lie in them', () => {
    const files = Array.from({ length: maxFilesPerFolder }, (_, at) => file(`src/x/${at}.ts`, ''))
    expect(fullFolders([...files, file('src/x/y/a.ts', '')])).toEqual([])
    expect(fullFolders([...files, file('src/x/0017-a.ts', '')])).toEqual([])
    expect(fullFolders([...files, file('src/x/a.ts', '')])).toEqual([
      `src/x has ${maxFilesPerFolder + 1} files`,
    ])
  })
})

describe('exports that are imported', () => {
  const unusedIn = (text: string, ...users: string[]) => {
    const own = file('src/a.ts', text)
    const others = users.map((user, at) => file(`src/user-${at}.ts`, user))
    return unusedExports(syntaxes([own]), [own, ...others])
  }
  const text = 'export const a = 1\nexport function b() {}\nexport interface C {}\nclass D {}'

  test('by nothing are found, types apart from values', () => {
    const all = { values: ['src/a.ts a', 'src/a.ts b'], types: ['src/a.ts C'] }
    expect(unusedIn(text)).toEqual(all)
    expect(unusedIn(text, "import { d } from './d.ts'\nd()")).toEqual(all)
  })

  test.each([
    "import { a, b, type C } from './a.ts'\nf(a, b)",
    "import { a as x } from './a.ts'\nimport { b } from './a.ts'\nimport type { C } from './a.ts'",
    "export { a, b } from './a.ts'\nexport type { C } from './a.ts'",
    "import * as all from './a.ts'\nf(all)",
    "export * from './a.ts'",
    "const { a } = await import('./a.ts')",
    "import type { C } from './a.ts'\nconst all = await import('./a.ts')",
  ])('by %j are left alone', (user) => {
    expect(unusedIn(text, user)).toEqual({ values: [], types: [] })
  })
})

describe('old words', () => {
  test.each([
    ['mostBytes', ['most', 'bytes']],
    ['HTTPDoor', ['http', 'door']],
    ['late_looks', ['late', 'looks']],
    ['look-room', ['look', 'room']],
  ])('%s has its parts', (name, parts) => {
    expect(partsOf(name)).toEqual(parts)
  })

  const wordsIn = (path: string, text: string) => [
    ...oldIdentifiers(syntaxes([file(path, text)])).keys(),
  ]

  test.each([
    ['src/a.ts', 'const mostBytes = 1', 'most'],
    ['src/a.ts', 'f({ fillPurse() {} })', 'purse'],
    ['src/a.ts', 'class A { #purse = 1 }', 'purse'],
    ['src/a.ts', 'interface A { keyMark: string }', 'key mark'],
    ['src/look-room.ts', '', 'look'],
    ['console/a.tsx', 'const TaskSheet = 1', 'sheet'],
  ])('are found in %s: %s', (path, text, word) => {
    expect(wordsIn(path, text)).toEqual([word])
  })

  test.each([
    ['src/a.ts', 'const lookup = 1'],
    ['src/a.ts', 'const looksLikeJson = 1'],
    ['src/a.ts', '// a purse'],
    ['src/a.ts', 'const sheet = 1'],
  ])('are not taken for others in %s: %s', (path, text) => {
    expect(wordsIn(path, text)).toEqual([])
  })

  test.each([
    ["f({ kind: 'late_look' })", ['look']],
    ["f('purse-drawn')", ['purse']],
    ["f('A purse of texts.')", []],
    ['const purse = 1', []],
  ])('are found in values: %s', (text, words) => {
    expect([...oldValues(syntaxes([file('src/a.ts', text)])).keys()]).toEqual(words)
  })

  const linesIn = (path: string, text: string) => {
    const own = file(path, text)
    return [...oldTexts([own], path.endsWith('.md') ? new Map() : syntaxes([own])).keys()]
  }

  test.each([
    ['src/a.ts', '// Fills the purse.', 'purse'],
    ['src/a.ts', "const text = 'the Purses of all'", 'purses'],
    ['src/a.ts', 'const text = `$' + '{a} films`', 'films'],
    ['docs/a.md', 'What a looker does.', 'looker'],
    ['docs/a.md', '| `left_off` | integer |', 'left_off'],
    ['src/a.ts', 'const row = { left_off: 1 }', 'left_off'],
    ['src/a.ts', "log.warn('not let in')", 'not let in'],
    ['console/a.tsx', 'const a = <b>Seen to</b>', 'Seen to'],
  ])('are found in the text of %s: %s', (path, text, word) => {
    expect(linesIn(path, text)).toEqual([word])
  })

  test.each([
    ['src/a.ts', 'const purse = 1'],
    ['docs/a.md', 'a microfilm, and what they say of it'],
  ])('are not found in the text of %s: %s', (path, text) => {
    expect(linesIn(path, text)).toEqual([])
  })
})

test('persons without a role are found in code and pages', () => {
  const files = [file('src/a.ts', '// Whoever asks.\nf()'), file('docs/a.md', 'Nobody.\nA body.')]
  expect(vagueLines(files)).toEqual(['src/a.ts:1 // Whoever asks.', 'docs/a.md:1 Nobody.'])
})

test('words of vendors are found in the folders of all', () => {
  const files = [
    file('src/http/a.ts', "f('vendorg')"),
    file('src/surfaces/vendorg/a.ts', 'vendorg'),
  ]
  expect(vendorLines(files)).toEqual(["src/http/a.ts:1 f('vendorg')"])
})

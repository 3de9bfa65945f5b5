// Lists that are read without the parser of YAML: the same as with it, to the line, and 1,500 rows quickly.
import { expect, test } from 'bun:test'
import { LineCounter, parseDocument } from 'yaml'
import { readPlainList } from './plain-list.ts'
import { readYamlPrices } from './price-list.ts'

const price = (model: string, input = '1.00') => ({
  model,
  unit: 'token',
  per_million: { input, output: '2.00' },
})
const modelOf = (name: string) => ({ name, kind: 'text', interfaces: ['chat'] })

/** As `gateway price import --from` writes them. */
const printed = (names: readonly string[]) =>
  [
    '# from a file: "prices:"',
    'models:',
    ...names.map((n) => `  - { name: ${JSON.stringify(n)}, kind: "text", interfaces: ["chat"] }`),
    'prices:',
    ...names.map(
      (n) =>
        `  - { model: ${JSON.stringify(n)}, unit: "token", per_million: { input: "1.00", output: "2.00" } }`,
    ),
    '',
  ].join('\n')

function parsed(text: string) {
  const counter = new LineCounter()
  const doc = parseDocument(text, { lineCounter: counter })
  const value = doc.toJS()
  const count = (Array.isArray(value) ? value : value.prices).length
  const lines = Array.from({ length: count }, (_, at) => {
    const node = doc.getIn(Array.isArray(value) ? [at] : ['prices', at], true)
    return counter.linePos((node as { range: number[] }).range[0]!).line
  })
  return { value, lines }
}

const names = ['a', 'on', '1e3', 'with "quotes", {braces}: and # marks', '名']
const list = { models: names.map(modelOf), prices: names.map((name) => price(name)) }
test.each([
  ['JSON', JSON.stringify(list)],
  ['JSON in lines', JSON.stringify(list, null, 2)],
  ['JSON with prices first', JSON.stringify({ prices: list.prices, models: list.models }, null, 1)],
  ['a bare list in JSON', JSON.stringify(list.prices, null, 2)],
  ['a printed list', printed(names)],
])('%s is read as the parser reads it', (_, text) => {
  expect(readPlainList(text)).toEqual(parsed(text))
})

const item = '{ model: "a", unit: "token", per_million: { input: "1", output: "2" } }'
test.each([
  ['a repeated key', 'prices:\n  - { model: "a", model: "b" }'],
  ['a repeated key in JSON', '{"prices":[{"model":"a","model":"b"}]}'],
  ['a repeated section', `prices:\n  - ${item}\nprices:\n  - ${item}`],
  ['a comment behind', `prices:\n  - ${item} # cheap`],
  ['an anchor', `prices:\n  - &a ${item}\n  - *a`],
  ['a text without quotes', 'prices:\n  - { model: a, unit: token }'],
  ['another section', `accounts:\n  - { name: "a" }\nprices:\n  - ${item}`],
  ['lines', 'prices:\n  - model: "a"\n    unit: "token"'],
  ['a broken text', '{"prices": ['],
  ['nothing', ''],
])('%s is left to the parser', (_, text) => {
  expect(readPlainList(text)).toBeUndefined()
})

test('a mistake in it is told with its line', () => {
  const wrong = printed(['a']).replace('"1.00"', '"-1"')
  const read = readYamlPrices(wrong)
  expect('problems' in read && read.problems[0]).toMatchObject({ line: 5 })
})

test('1,500 rows take far less than two seconds of processor time', () => {
  const text = printed(Array.from({ length: 1_500 }, (_, i) => `maker-${i % 40}-model-${i}`))
  const before = process.cpuUsage()
  const read = readYamlPrices(text)
  const { user, system } = process.cpuUsage(before)
  expect('prices' in read && read.prices.length).toBe(1_500)
  expect(user + system).toBeLessThan(1_500_000)
})

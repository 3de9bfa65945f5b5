import { expect, test } from 'bun:test'
import { convert } from '../../contract/price-sources/convert.ts'
import { one, withNumbersAsText } from '../../contract/price-sources/decimal.ts'
import { writeList } from './write-list.ts'

test('the list is YAML whose texts cannot be read as anything else', () => {
  const model = { id: 'gpt-x', cost: { input: 1, output: 2 } }
  const file = withNumbersAsText(
    JSON.stringify({ openai: { models: { '1e3': model, on: model } } }),
  )
  const converted = convert(JSON.parse(file), 'models.dev', {
    factor: one,
    places: 9,
    only: [],
  })
  const text = writeList(converted, ['from\nmodels.dev'])
  expect(text.split('\n')[0]).toBe('# from models.dev')
  const value = Bun.YAML.parse(text) as { prices: { model: unknown }[] }
  expect(value.prices.map((price) => price.model)).toEqual(['1e3', 'on'])
})

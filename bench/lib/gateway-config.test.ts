import { expect, test } from 'bun:test'
import { fileDeclaration } from '../../src/contract/config-schema/index.ts'
import { casesConfig, modelFor } from '../cpu/cases-config.ts'
import { growthConfig } from '../growth/config.ts'
import { payloads, styles } from '../payload/index.ts'
import { gatewayConfig } from './gateway-config.ts'

test('the configuration is one that the gateway takes, with every style on every channel', () => {
  const config = gatewayConfig([
    { name: 'a', url: 'http://127.0.0.1:1/a' },
    { name: 'b', url: 'http://127.0.0.1:1/b' },
  ])
  const { channels, prices } = fileDeclaration.parse(config)
  expect(channels.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(channels[0]?.protocols).toMatchObject({ messages: 'http://127.0.0.1:1/a' })
  for (const style of styles) {
    expect(Object.keys(channels[0]!.models)).toContain(payloads[style].model)
    expect(prices.map(({ model }) => model)).toContain(payloads[style].model)
  }
})

test('the gateway takes the configuration of the cases and of the growth figures', () => {
  const { channels } = fileDeclaration.parse(
    casesConfig(['http://127.0.0.1:1', 'https://a.example']),
  )
  expect(channels[1]?.models).toMatchObject({ [modelFor('chat', 1, false)]: '*' })
  expect(channels[1]?.models[modelFor('chat', 1, true)]).not.toBe('*')
  const grown = fileDeclaration.parse(
    growthConfig('http://127.0.0.1:1', { models: 20, channels: 3 }),
  )
  expect([grown.channels.length, grown.models.length, grown.prices.length]).toEqual([3, 20, 20])
})

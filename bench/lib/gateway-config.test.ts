import { expect, test } from 'bun:test'
import { fileDeclaration } from '../../src/contract/config-schema/index.ts'
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

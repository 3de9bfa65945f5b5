import { expect, test } from 'bun:test'
import { checkDeclaration, fileDeclaration } from './config-schema/index.ts'
import { fileChanges } from './reload.ts'

function fileOf(settings: object) {
  const checked = checkDeclaration(fileDeclaration, settings)
  if (!('value' in checked)) throw new Error(JSON.stringify(checked))
  return checked.value
}

const secret = 'sk-0123456789abcdefghijklmnopqrstuv'
const price = (model: string, input: string, more: object = {}) => ({
  model,
  unit: 'token',
  per_million: { input, output: '2' },
  ...more,
})

test('the same file has no changes', () => {
  const same = () => fileOf({ accounts: [{ name: 'acme' }], prices: [price('txta-plus', '1')] })
  expect(fileChanges(same(), same())).toEqual([])
})

test('entries are added, changed and removed by name, and no value is told', () => {
  const before = fileOf({
    accounts: [{ name: 'acme' }],
    tokens: [{ account: 'acme', name: 'ci', token: secret }],
    prices: [price('txta-plus', '1'), price('txta-plus', '1', { account: 'acme' })],
    webhooks: [{ url: 'https://ops.example/in?secret=1', events: ['balance.low'] }],
  })
  const after = fileOf({
    accounts: [{ name: 'acme' }, { name: 'other' }],
    tokens: [{ account: 'acme', name: 'ci', token: `${secret}x` }],
    prices: [price('txta-plus', '1', { account: 'acme' }), price('txta-plus', '3')],
    callbacks: { secret: `whsec_${btoa('x'.repeat(32))}` },
  })
  const changes = fileChanges(before, after)
  expect(changes).toEqual([
    { section: 'accounts', name: 'other', change: 'added' },
    { section: 'callbacks', name: 'callbacks', change: 'added' },
    { section: 'prices', name: 'txta-plus', change: 'changed' },
    { section: 'tokens', name: 'acme/ci', change: 'changed' },
    { section: 'webhooks', name: 'ops.example', change: 'removed' },
  ])
  expect(JSON.stringify(changes)).not.toContain('secret')
})

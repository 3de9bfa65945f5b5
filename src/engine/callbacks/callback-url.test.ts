// Which callback URLs a caller may name, as far as that can be checked without I/O.
import { expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { callbackIn } from './callback-url.ts'

const nothing: { egressAllow: string[] } = { egressAllow: [] }
const loopback = { egressAllow: ['127.0.0.0/8', '10.1.2.3'] }

const said = (value: unknown, engine = nothing): unknown => {
  const told = callbackIn(engine, value)
  if (!(told instanceof Refusal)) return told.callbackUrl
  expect([told.code, told.extras.param]).toEqual(['invalid_request', 'callback_url'])
  return told.message
}

test('no address is no callback', () => {
  for (const value of [undefined, null, '']) expect(callbackIn(nothing, value)).toEqual({})
})

test.each([
  ['https://hooks.example/a?b=c', 'https://hooks.example/a?b=c'],
  ['https://hooks.example', 'https://hooks.example/'],
  ['https://hooks.example:443/x', 'https://hooks.example/x'],
  ['HTTPS://Hooks.Example/Ü#part', 'https://hooks.example/%C3%9C'],
  ['https://93.184.216.34/x', 'https://93.184.216.34/x'],
  [`https://hooks.example/${'a'.repeat(2026)}`, `https://hooks.example/${'a'.repeat(2026)}`],
])('%s is taken', (given, taken) => {
  expect(said(given)).toBe(taken)
})

test.each<[unknown, string]>([
  [7, 'must be a string'],
  [['https://hooks.example'], 'must be a string'],
  [`https://hooks.example/${'a'.repeat(2027)}`, 'must have at most 2048 characters'],
  ['hooks.example/a', 'cannot be used: the address is not a URL'],
  ['ftp://hooks.example/', 'cannot be used: the address is neither https nor http'],
  ['javascript:alert(1)', 'cannot be used: the address is neither https nor http'],
  ['https://u:p@hooks.example/', 'cannot be used: the address holds credentials'],
  ['http://hooks.example/', 'cannot be used: the address is not https'],
  ['https://hooks.example:8443/', 'cannot be used: the port may not be asked'],
  ['https://127.0.0.1/', 'cannot be used: the address may not be asked'],
  ['https://2130706433/', 'cannot be used: the address may not be asked'],
  ['https://[::1]/', 'cannot be used: the address may not be asked'],
  ['https://[::ffff:169.254.169.254]/', 'cannot be used: the address may not be asked'],
])('%p is refused', (given, why) => {
  expect(said(given)).toStartWith(`'callback_url' ${why}`)
})

test('networks that may be asked may be asked on any port and without TLS', () => {
  expect(said('http://127.0.0.1:9000/x', loopback)).toBe('http://127.0.0.1:9000/x')
  expect(said('http://10.1.2.3/x', loopback)).toBe('http://10.1.2.3/x')
  expect(said('http://10.1.2.4/x', loopback)).toContain('the address may not be asked')
  // A name may resolve there; the resolved address is checked on connecting.
  expect(said('http://receiver.internal:9000/', loopback)).toBe('http://receiver.internal:9000/')
})

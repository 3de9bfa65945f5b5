// Cases for the caller's address: chains of proxies, forged headers, spellings of addresses.
import { describe, expect, test } from 'bun:test'
import { clientIp, noProxies, trustedProxies } from './client-ip.ts'

const proxies = trustedProxies(['10.0.0.0/8', '2001:db8:1::/48', '127.0.0.1/32'])
const through = (peer: string, header: string | null) => clientIp(peer, header, proxies)

describe('the caller’s address', () => {
  test('is the peer when no proxy is trusted, whatever a header says', () => {
    expect(clientIp('203.0.113.7', '10.0.0.1', noProxies)).toBe('203.0.113.7')
    expect(through('203.0.113.7', '127.0.0.1')).toBe('203.0.113.7')
    expect(clientIp(undefined, '10.0.0.1', proxies)).toBeUndefined()
  })

  test('is what a trusted proxy saw', () => {
    expect(through('10.0.0.9', '198.51.100.4')).toBe('198.51.100.4')
    expect(through('127.0.0.1', null)).toBe('127.0.0.1')
    expect(through('2001:db8:1::5', '2001:db8:9::1')).toBe('2001:db8:9::1')
  })

  test('is read from the end, so that what a caller puts in front changes nothing', () => {
    expect(through('10.0.0.9', '127.0.0.1, 198.51.100.4')).toBe('198.51.100.4')
    expect(through('10.0.0.9', '127.0.0.1,198.51.100.4 , 10.0.0.8')).toBe('198.51.100.4')
    expect(through('10.0.0.9', `${'8.8.8.8, '.repeat(100_000)}198.51.100.4`)).toBe('198.51.100.4')
  })

  test('is the first of the chain when all of it is trusted', () => {
    expect(through('10.0.0.9', '10.0.0.7, 10.0.0.8')).toBe('10.0.0.7')
  })

  test('is unknown when a trusted proxy names none', () => {
    for (const header of ['unknown', '', '198.51.100', '1', '198.51.100.4, _hidden', '0x7f.1']) {
      expect(through('10.0.0.9', header)).toBeUndefined()
    }
  })

  test('may come with a port, in brackets, or as IPv4 within IPv6', () => {
    expect(through('10.0.0.9', '198.51.100.4:5123')).toBe('198.51.100.4')
    expect(through('10.0.0.9', '[2001:db8:9::1]:443')).toBe('2001:db8:9::1')
    expect(through('::ffff:10.0.0.9', '::ffff:198.51.100.4')).toBe('198.51.100.4')
  })
})

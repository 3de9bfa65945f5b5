// Whether a request comes from this machine itself. A proxy on this machine does not count: its peer is
// local for every caller.
import ipaddr from 'ipaddr.js'
import type { RequestContext } from './request-context.ts'

/** Headers that proxies add; without them there is no proxy, or a hidden one. */
const ofProxies = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
]

export function isLocal({ request: { headers }, connection }: RequestContext): boolean {
  if (ofProxies.some((name) => headers.has(name)) || !isLocalHost(headers.get('host'))) return false
  const ip = connection.ip()
  return ip !== undefined && isLoopback(ip)
}

/** A page of another site whose name resolves to this machine sends that name. */
function isLocalHost(host: string | null): boolean {
  const name = (host ?? '')
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
  return name === '' || name === 'localhost' || isLoopback(name)
}

const isLoopback = (text: string): boolean =>
  ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback'

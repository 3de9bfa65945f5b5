// SSRF guard for URLs chosen by third parties: resolves a name once, checks every address in any
// spelling, and returns the checked addresses to connect to. Opens no connection.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const maxUrlLength = 8192
const lookupTimeoutMs = 5_000
const openPorts = ['', '80', '443']

/** Metadata services at public addresses, or in ranges that a list may miss. */
const metadataAddresses = ['168.63.129.16', '100.100.100.200']
/** The allocated public range of IPv6; all else is special or unassigned. */
const publicIPv6 = ipaddr.IPv6.parseCIDR('2000::/3')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16')

export interface EgressRules {
  /** CIDRs that may be reached although they are not public. */
  readonly egressAllow: readonly string[]
}

export interface AddressRules {
  /** Networks (CIDRs) and addresses allowed although private, on any port and without TLS. */
  allow: readonly string[]
  httpsOnly: boolean
  /** Allowed hosts, by name or `*.` and a domain; absent: any. */
  hosts?: readonly string[]
}

/** Resolves a name to all its addresses. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** `addresses` are all addresses of the name, in the order to try them. */
export type Guarded = { addresses: readonly string[]; url: URL } | { problem: string }

const lookupAll: Lookup = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export async function guardAddress(
  text: string,
  rules: AddressRules,
  lookupName: Lookup = lookupAll,
): Promise<Guarded> {
  const url = readAddress(text)
  if ('problem' in url) return url
  const { hostname } = url
  if (rules.hosts !== undefined && !rules.hosts.some((host) => isHost(hostname, host))) {
    return { problem: 'the host is not among those that may be asked' }
  }
  const literal = hostname.replace(/^\[|\]$/g, '')
  const isNamed = isIP(literal) === 0
  const answers = isNamed ? await resolveName(hostname, lookupName) : [literal]
  if (answers.length === 0) return { problem: unresolved }
  for (const answer of answers) {
    const problem = problemOf(answer, url, rules)
    if (problem === undefined) continue
    return { problem: isNamed && problem === notAsked ? unresolved : problem }
  }
  return { addresses: answers.map(dialled), url }
}

function readAddress(text: string): URL | { problem: string } {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null
  if (url === null) return { problem: 'the address is not a URL' }
  const { protocol, username, password } = url
  if (protocol !== 'https:' && protocol !== 'http:') {
    return { problem: 'the address is neither https nor http' }
  }
  return username === '' && password === '' ? url : { problem: 'the address holds credentials' }
}

/**
 * The URL as it will be requested, checked as far as possible without resolving its name. It may
 * still be refused when it is requested.
 */
export function previewAddress(text: string, rules: AddressRules): URL | { problem: string } {
  const url = readAddress(text)
  if ('problem' in url) return url
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const isNamed = isIP(literal) === 0
  // A name may resolve to an allowed network, where any port and scheme is permitted.
  if (isNamed && rules.allow.length > 0) return url
  const problem = isNamed ? problemOfPublic(url, rules) : problemOf(literal, url, rules)
  return problem === undefined ? url : { problem }
}

/** `*.a.example` matches every host below it, not a.example itself. */
function isHost(hostname: string, pattern: string): boolean {
  const name = hostname.replace(/\.$/, '')
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern
}

/** An IPv4-mapped IPv6 address is dialled as IPv4. */
function dialled(answer: string): string {
  const address = ipaddr.parse(answer)
  return isV6(address) && address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : answer
}

async function resolveName(host: string, lookupName: Lookup): Promise<readonly string[]> {
  const late = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(() => late.resolve([]), lookupTimeoutMs)
  try {
    return await Promise.race([lookupName(host), late.promise])
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}

const notAllowed = 'it is not public, and GATEWAY_EGRESS_ALLOW does not name it'
const notAsked = `the address may not be asked: ${notAllowed}`
/** The same for an unknown name and one of a private network, so that nothing internal leaks. */
const unresolved = `the name of the host cannot be resolved, or the address may not be asked: ${notAllowed}`

function problemOf(answer: string, url: URL, rules: AddressRules): string | undefined {
  // A zone names an interface of this machine.
  if (isIP(answer) === 0 || answer.includes('%')) return notAsked
  const address = unwrap(ipaddr.parse(answer))
  if (rules.allow.some((network) => isWithin(address, network))) return undefined
  return isPublic(address) ? problemOfPublic(url, rules) : notAsked
}

function problemOfPublic(url: URL, rules: AddressRules): string | undefined {
  if (!openPorts.includes(url.port)) {
    return 'the port may not be asked: only 80 and 443, unless GATEWAY_EGRESS_ALLOW names the address'
  }
  if (rules.httpsOnly && url.protocol !== 'https:') return 'the address is not https'
  return undefined
}

type Address = ReturnType<typeof ipaddr.parse>
const isV6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6'

/** The IPv4 address that an IPv6 address embeds, if any. */
function unwrap(address: Address): Address {
  if (!isV6(address)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  const bytes = address.toByteArray()
  if (address.match(nat64)) return ipaddr.fromByteArray(bytes.slice(12))
  if (address.match(sixToFour)) return ipaddr.fromByteArray(bytes.slice(2, 6))
  return address
}

function isPublic(address: Address): boolean {
  if (metadataAddresses.includes(address.toString())) return false
  return address.range() === 'unicast' && (!isV6(address) || address.match(publicIPv6))
}

const whole = (address: string) => `${address}/${isIP(address) === 6 ? 128 : 32}`

function isWithin(address: Address, network: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(network.includes('/') ? network : whole(network))
  return base.kind() === address.kind() && address.match(base, bits)
}

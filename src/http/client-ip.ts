// The address of the caller: the peer of the connection or, behind trusted proxies, the address that
// the first of them saw. A header from any other peer is ignored.
import ipaddr from 'ipaddr.js'

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** Proxies whose `X-Forwarded-For` counts. */
export interface TrustedProxies {
  includes(address: ipaddr.IPv4 | ipaddr.IPv6): boolean
}

export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const networks: readonly Network[] = cidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  return {
    includes: (address) =>
      networks.some(
        ([range, bits]) => address.kind() === range.kind() && address.match(range, bits),
      ),
  }
}

export const noProxies: TrustedProxies = { includes: () => false }

/** More hops than any real chain; further ones are not read. */
const maxHops = 32

/**
 * The last address of the chain that is not a trusted proxy, read from the end: anything before it was
 * sent by the caller and may be false. Undefined when a trusted proxy names no address.
 */
export function clientIp(
  peer: string | undefined,
  forwardedFor: string | null,
  proxies: TrustedProxies,
): string | undefined {
  if (peer === undefined || forwardedFor === null) return peer
  let last = addressIn(peer)
  if (last === undefined || !proxies.includes(last)) return peer
  const hops = forwardedFor.split(',')
  for (const hop of hops.slice(-maxHops).reverse()) {
    last = addressIn(hop.trim())
    if (last === undefined || !proxies.includes(last)) break
  }
  return last?.toString()
}

/** `10.1.2.3`, `10.1.2.3:80`, `2001:db8::1` and `[2001:db8::1]:80`; IPv4 in IPv6 is IPv4. */
function addressIn(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1')
  const isFull = bare.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(bare)
  return isFull && ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined
}

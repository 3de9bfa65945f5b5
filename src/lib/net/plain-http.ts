// Which addresses may be asked without TLS: this machine, and networks that the operator allows.
import ipaddr from 'ipaddr.js'

/** Of an address that the operator has typed. Names other than `localhost` always need TLS. */
export function mayLackTls({ hostname }: URL, allow: readonly string[]): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost') return true
  if (!ipaddr.isValid(host)) return false
  const address = ipaddr.process(host)
  return address.range() === 'loopback' || allow.some((network) => isWithin(address, network))
}

function isWithin(address: ReturnType<typeof ipaddr.process>, network: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(network)
  return base.kind() === address.kind() && address.match(base, bits)
}

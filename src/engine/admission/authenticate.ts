// Authenticates a request: finds its token and checks that it may be used now and from this
// address. There is no default identity: the answer is a token or a refusal.
import { BlockList } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Seal } from '../../lib/crypto/seal.ts'

interface TokenDeps {
  readonly catalog: Pick<Catalog, 'tokens'>
  readonly clock: Clock
  readonly seal: Seal
  readonly knownSecrets: Map<string, Token>
  readonly limits: { tokenCacheEntries: number }
}

export function authenticate(
  deps: TokenDeps,
  secret: string,
  connection: { ip(): string | undefined },
): Token | Refusal {
  const token = usable(deps, tokenOf(deps, secret))
  if (token instanceof Refusal) return token
  if (token.allowedIps.length > 0 && !ipAllowed(token.allowedIps, connection.ip())) {
    return refuse('ip_not_allowed', 'this API token may not be used from this address')
  }
  return token
}

/** The token in whose name work goes on that was let in earlier, if it may be used still. */
export const tokenById = (
  deps: Pick<TokenDeps, 'catalog' | 'clock'>,
  id: string,
): Token | Refusal => usable(deps, deps.catalog.tokens.byId(id))

function usable({ clock }: Pick<TokenDeps, 'clock'>, token: Token | undefined): Token | Refusal {
  if (token === undefined) return refuse('invalid_api_key', 'this API token is not known')
  if (token.disabled) return refuse('invalid_api_key', 'this API token is disabled')
  if (token.expiresAtMs !== undefined && token.expiresAtMs <= clock.nowMs()) {
    return refuse('invalid_api_key', 'this API token has expired')
  }
  return token
}

/** The format of a token; one that was issued elsewhere may be shorter. Anything else is not worth hashing. */
const possibleSecret = /^sk-[\x21-\x7e]{1,253}$/

/**
 * Found by a keyed hash of the whole secret, or of the digest by which it was brought from elsewhere; what was
 * found is cached, not computed every time.
 */
function tokenOf(
  { catalog, knownSecrets, limits, seal }: TokenDeps,
  secret: string,
): Token | undefined {
  const known = knownSecrets.get(secret)
  if (known !== undefined) return known
  if (!possibleSecret.test(secret)) return undefined
  const token =
    catalog.tokens.get(seal.hash(secret)) ??
    catalog.tokens.get(seal.hashOfDigest(Bun.SHA256.hash(secret, 'hex')))
  if (token === undefined) return undefined
  if (knownSecrets.size >= limits.tokenCacheEntries) knownSecrets.clear()
  knownSecrets.set(secret, token)
  return token
}

/** Networks of a token as they are compared with; parsed with its first call. */
const networksOf = new WeakMap<readonly string[], BlockList>()

function ipAllowed(allowed: readonly string[], ip: string | undefined): boolean {
  if (ip === undefined || !ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  let networks = networksOf.get(allowed)
  if (networks === undefined) {
    networks = parseNetworks(allowed)
    networksOf.set(allowed, networks)
  }
  return networks.check(address.toString(), address.kind())
}

function parseNetworks(allowed: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const entry of allowed) {
    if (entry.includes('/')) {
      const [net, bits] = ipaddr.parseCIDR(entry)
      networks.addSubnet(net.toString(), bits, net.kind())
    } else {
      const address = ipaddr.process(entry)
      networks.addAddress(address.toString(), address.kind())
    }
  }
  return networks
}

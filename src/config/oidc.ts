// Settings of sign-in through an OpenID Connect provider. Reads no other setting than these, and does
// not ask the provider.
import { type OidcGroup, type OidcSettings, roles } from '../contract/people.ts'
import { mayLackTls } from '../lib/net/plain-http.ts'
import { ConfigError } from './file.ts'
import { wrong, wrongSecret } from './network.ts'

const oidcVariables = [
  'GATEWAY_OIDC_ISSUER',
  'GATEWAY_OIDC_CLIENT_ID',
  'GATEWAY_OIDC_CLIENT_SECRET',
  'GATEWAY_OIDC_GROUPS',
  'GATEWAY_OIDC_ONLY',
] as const
type OidcVariable = (typeof oidcVariables)[number]
type Get = (variable: OidcVariable) => string | undefined

/** Undefined when people sign in with passwords alone. */
export function readOidc(get: Get, egressAllow: readonly string[]): OidcSettings | undefined {
  const given = oidcVariables.filter((variable) => get(variable) !== undefined)
  const only = readOnly(get('GATEWAY_OIDC_ONLY'))
  const isUnused = given.length === 0 || (given.length === 1 && given[0] === 'GATEWAY_OIDC_ONLY')
  if (isUnused && !only) return undefined
  const needed = (variable: OidcVariable): string => {
    const text = get(variable)
    if (text !== undefined) return text
    throw new ConfigError(`${variable} is missing, but ${given[0]} is set.`)
  }
  const clientSecret = get('GATEWAY_OIDC_CLIENT_SECRET')
  return {
    issuer: readIssuer(needed('GATEWAY_OIDC_ISSUER'), egressAllow),
    clientId: needed('GATEWAY_OIDC_CLIENT_ID'),
    ...(clientSecret !== undefined && { clientSecret }),
    groups: readGroups(needed('GATEWAY_OIDC_GROUPS')),
    only,
    egressAllow,
  }
}

function readOnly(text = 'off'): boolean {
  if (text !== 'on' && text !== 'off') throw wrong('GATEWAY_OIDC_ONLY', text, 'on or off')
  return text === 'on'
}

function readIssuer(text: string, egressAllow: readonly string[]): string {
  const variable = 'GATEWAY_OIDC_ISSUER'
  const accepts = 'an https address without credentials, query or fragment'
  if (text.includes('@')) throw wrongSecret(variable, 'credentials in it', accepts)
  const url = /^https?:\/\/[^\s?#\\]+$/.test(text) ? URL.parse(text) : null
  if (url === null) throw wrong(variable, text, accepts)
  if (url.protocol === 'https:' || mayLackTls(url, egressAllow)) return text
  throw wrong(
    variable,
    text,
    `${accepts}; http is for this machine, and for addresses in GATEWAY_EGRESS_ALLOW`,
  )
}

/** `admins=administrator,books=finance,acme-dev=member:acme` */
function readGroups(text: string): OidcGroup[] {
  const entries = text.split(',').flatMap((entry) => entry.trim() || [])
  if (entries.length === 0) throw wrong('GATEWAY_OIDC_GROUPS', text, groupForm)
  return entries.map((entry) => readGroup(entry, text))
}

const groupForm =
  'GROUP=ROLE with commas between, where ROLE is one of administrator, operator, finance, or member:ACCOUNT'

function readGroup(entry: string, text: string): OidcGroup {
  // The group comes first and may hold the sign itself.
  const [, group = '', name = '', account] = /^(.+)=([a-z]+)(?::(.+))?$/.exec(entry) ?? []
  const role = roles.find((each) => each === name)
  const isMember = role === 'member'
  if (role === undefined || isMember !== (account !== undefined)) {
    throw wrong('GATEWAY_OIDC_GROUPS', text, groupForm)
  }
  return { group: group.trim(), role, ...(account !== undefined && { account }) }
}

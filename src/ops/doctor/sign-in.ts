// Checks the identity provider that people sign in through: its discovery document is there, is of the
// configured issuer and names what a sign-in needs. No sign-in is tried.
import { OidcProvider } from '../../admin/oidc/provider.ts'
import type { Config } from '../../config/index.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const check = 'sign-in'

export async function checkSignIn(
  { oidc }: Pick<Config, 'oidc'>,
  accounts: readonly string[],
): Promise<Finding[]> {
  if (oidc === undefined) return []
  const { issuer, groups } = oidc
  const lost = groups
    .filter(({ account }) => account !== undefined && !accounts.includes(account))
    .map(({ group, account }) =>
      warning(
        check,
        `people of the group ${group} are refused: there is no account '${account}'`,
        'create the account, or correct GATEWAY_OIDC_GROUPS',
      ),
    )
  const found = await new OidcProvider(oidc).check()
  if ('problem' in found) {
    const says = `${issuer} cannot be used: ${found.problem}`
    const advice = `GATEWAY_OIDC_ISSUER must be the "issuer" of ${documentOf(issuer)}, letter by letter, and reachable from here`
    return [problem(check, says, advice), ...lost]
  }
  const out = found.signsOut
    ? 'signing out ends the session there, too'
    : 'it has no page for signing out'
  return [ok(check, `${issuer} is an OpenID Connect issuer; ${out}`), ...lost]
}

const documentOf = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

// Tokens of an application in Entra ID, by client credentials.
import type { CloudCredential } from '../../contract/catalog.ts'
import type { TokenRequest } from './tokens.ts'

const usualAuthority = 'https://login.microsoftonline.com'
const scope = 'https://cognitiveservices.azure.com/.default'

type Azure = Extract<CloudCredential, { kind: 'azure' }>

export function azureToken({ tenant, client_id, client_secret, authority }: Azure): TokenRequest {
  const base = (authority ?? usualAuthority).replace(/\/+$/, '')
  return {
    url: `${base}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    form: { grant_type: 'client_credentials', client_id, client_secret, scope },
  }
}

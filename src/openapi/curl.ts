// An operation as a curl command with its first example.
import type { OpenApi } from './document.ts'

type Json = Record<string, unknown>

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export function curlFor(
  { servers, components }: OpenApi,
  method: string,
  path: string,
  { security, requestBody, parameters }: Json,
): string {
  const content = Object.entries(((requestBody as Json | undefined)?.['content'] as Json) ?? {})[0]
  const needed = ((parameters as Json[] | undefined) ?? []).filter(
    ({ in: place, required }) => place === 'query' && required === true,
  )
  const query = needed.map(({ name }) => `${name}={${name}}`).join('&')
  const address = `${servers[0]?.url ?? ''}${path}${query === '' ? '' : `?${query}`}`
  const parts = [
    `curl -sS ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${quote(address)}`,
    ...credential(security as Json[], components['securitySchemes'] ?? {}),
    ...(content === undefined ? [] : bodyParts(content[0], content[1] as Json)),
  ]
  return parts.join(' \\\n  ')
}

function credential(security: readonly Json[], schemes: Json): string[] {
  const id = Object.keys(security[0] ?? {})[0]
  if (id === undefined) return []
  const variable = id === 'adminToken' ? '$ADMIN_TOKEN' : '$GATEWAY_TOKEN'
  const { in: place, name } = schemes[id] as Json
  return place === 'header'
    ? [`-H "${name}: ${variable}"`]
    : [`-H "Authorization: Bearer ${variable}"`]
}

function bodyParts(type: string, { examples }: Json): string[] {
  const first = Object.values((examples as Record<string, Json> | undefined) ?? {})[0]?.['value']
  const data = typeof first === 'string' ? first : JSON.stringify(first ?? {})
  return [`-H ${quote(`Content-Type: ${type}`)}`, `--data-binary ${quote(data)}`]
}

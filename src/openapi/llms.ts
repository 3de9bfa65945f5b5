// llms.txt: what the gateway is and offers, as plain text for programs.
import type { OpenApi } from './document.ts'

export function llmsText(data: OpenApi, admin: OpenApi): string {
  const url = data.servers[0]?.url ?? ''
  return `# ${data.info.title}

> ${data.info.description.replaceAll('`', '')}

Base address: ${url} (SDKs of the chat style: ${url}/v1). Send the token as "Authorization: Bearer sk-…".
Errors are {"error":{"message","type","code","param","request_id","upstream_request_id"}}.
Images and videos may be tasks: create one, then poll it until it has ended.

## Documents

- [OpenAPI of the interfaces](${url}/openapi.json)
- [OpenAPI of the admin API](${url}/openapi.admin.json)
- [The same to read](${url}/docs), [admin API to read](${url}/docs/admin)

## Interfaces
${linesOf(data)}

## Admin API
${linesOf(admin)}
`
}

const linesOf = ({ tags, paths }: OpenApi): string =>
  tags
    .map(({ name }) => {
      const lines = Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item).flatMap(([method, given]) => {
          const operation = given as { tags: string[]; summary: string }
          if (operation.tags[0] !== name) return []
          return [`- ${method.toUpperCase()} ${path}: ${operation.summary}`]
        }),
      )
      return `\n### ${name}\n\n${lines.join('\n')}`
    })
    .join('\n')

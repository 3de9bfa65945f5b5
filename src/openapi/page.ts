// A document as an HTML page: no script and nothing from other hosts. Knows OpenAPI, no interface.
import { createHash } from 'node:crypto'
import { curlFor } from './curl.ts'
import type { OpenApi } from './document.ts'
import { bodyHtml, escapeHtml, inline, type Json, schemaHtml } from './page-schema.ts'
import { pageStyle } from './page-style.ts'

const styleHash = createHash('sha256').update(pageStyle).digest('base64')

export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export interface PageLinks {
  /** Of the document itself. */
  json: string
  others: readonly (readonly [href: string, text: string])[]
}

interface Call {
  method: string
  path: string
  operation: Json
}

export function pageOf(document: OpenApi, links: PageLinks): string {
  const { info, tags } = document
  const calls = callsOf(document)
  const of = (tag: string) =>
    calls.filter(({ operation }) => (operation.tags as string[])[0] === tag)
  const nav = tags.map(({ name }) => `<li><a href="#${anchor(name)}">${escapeHtml(name)}</a></li>`)
  const others = links.others.map(([href, text]) => `<a href="${href}">${escapeHtml(text)}</a>`)
  const sections = tags.map(
    ({ name }) => `<section id="${anchor(name)}"><h2>${escapeHtml(name)}</h2>
${of(name)
  .map((call) => callHtml(document, call))
  .join('\n')}</section>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
<h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p>${inline(info.description)}</p>
<p><a href="${links.json}">${links.json}</a> ${others.join(' ')}</p>
</header>
<nav aria-label="Groups"><ul>${nav.join('')}<li><a href="#schemas">Schemas</a></li></ul></nav>
<main>
${securityHtml(document)}
${sections.join('\n')}
<section id="schemas"><h2>Schemas</h2>
${schemasHtml(document)}
</section>
</main>
</body>
</html>
`
}

const callsOf = ({ paths }: OpenApi): Call[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method,
      path,
      operation: operation as Json,
    })),
  )

const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')

function securityHtml({ components }: OpenApi): string {
  const rows = Object.entries(components['securitySchemes'] ?? {}).map(([name, scheme]) => {
    const { type, scheme: kind, in: place, name: field, description } = scheme as Json
    const how = type === 'http' ? `Authorization: ${kind}` : `${place} ${field}`
    return row([
      `<code>${escapeHtml(name)}</code>`,
      escapeHtml(String(how)),
      inline(String(description)),
    ])
  })
  return `<section id="who"><h2>Caller</h2>${table(['Name', 'Where', 'What'], rows)}</section>`
}

const row = (cells: readonly string[]): string =>
  `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

const table = (heads: readonly string[], rows: readonly string[]): string =>
  rows.length === 0
    ? ''
    : `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`

function callHtml(document: OpenApi, { method, path, operation }: Call): string {
  const { operationId, summary, description, parameters, requestBody } = operation
  const body = requestBody as Json | undefined
  return `<details id="${operationId}"><summary><b class="${method}">${method.toUpperCase()}</b>
<code>${escapeHtml(path)}</code> <span>${escapeHtml(String(summary))}</span></summary>
${description === `${summary}.` ? '' : `<p>${inline(String(description))}</p>`}
<pre>${escapeHtml(curlFor(document, method, path, operation))}</pre>
${parametersHtml((parameters as Json[] | undefined) ?? [])}
${body === undefined ? '' : `<h4>Body</h4>${bodyHtml(body)}`}
<h4>Answers</h4>
${answersHtml(document, operation)}
</details>`
}

function parametersHtml(parameters: readonly Json[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: place, required, description, schema }) =>
    row([
      `<code>${escapeHtml(String(name))}</code>`,
      `${escapeHtml(String(place))}${required === true ? ', needed' : ''}`,
      schemaHtml(schema as Json),
      description === undefined ? '' : inline(String(description)),
    ]),
  )
  return `<h4>Parameters</h4>${table(['Name', 'Where', 'What', ''], rows)}`
}

function answersHtml({ components }: OpenApi, operation: Json): string {
  const codes = operation['x-error-codes'] as Readonly<Record<string, readonly string[]>>
  const rows = Object.entries(operation['responses'] as Json).map(([status, given]) => {
    const ref = (given as Json)['$ref']
    const name = typeof ref === 'string' ? ref.slice(ref.lastIndexOf('/') + 1) : undefined
    const answer = (name === undefined ? given : components['responses']![name]) as Json
    const content = Object.entries((answer['content'] as Json | undefined) ?? {}).map(
      ([type, of]) =>
        `<div>${type === 'application/json' ? '' : `${escapeHtml(type)}: `}${contentHtml(of as Json)}</div>`,
    )
    const own = codes[status]?.map((code) => `\`${code}\``).join(', ')
    const what = inline(own ?? String(answer['description']))
    return row([`<code>${status}</code>`, what, content.join('')])
  })
  return table(['Status', 'What', 'Body'], rows)
}

/** The schema of an answer, or that of the events of a stream. */
const contentHtml = ({ schema, 'x-event-schema': event }: Json): string =>
  schemaHtml((event ?? schema) as Json)

const schemasHtml = ({ components }: OpenApi): string =>
  Object.entries(components['schemas'] ?? {})
    .map(
      // Not folded: a link to one should show it.
      ([name, schema]) => `<div class="schema" id="schema-${name}"><h3><code>${name}</code></h3>
${schemaHtml(schema as Json)}</div>`,
    )
    .join('\n')

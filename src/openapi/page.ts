// A document as HTML for people to read: the body of a page, without its frame. Knows OpenAPI, no interface.
import { curlFor } from './curl.ts'
import type { OpenApi } from './document.ts'
import { bodyHtml, escapeHtml, inline, type Json, schemaHtml } from './page-schema.ts'

/** A block of code as HTML. */
type CodeHtml = (code: string, language: string) => string

export interface ReferenceGroup {
  id: string
  title: string
  calls: readonly ReferenceCall[]
}

interface ReferenceCall {
  id: string
  name: string
  summary: string
  text: string
}

interface Call {
  method: string
  path: string
  operation: Json
}

/** `json`: the address of the document itself, for programs. */
export function referenceHtml(
  document: OpenApi,
  { title, json }: { title: string; json: string },
  code: CodeHtml,
): string {
  const { info } = document
  const sections = groupsOf(document).map(
    ({ name, calls }) => `<section id="${anchor(name)}"><h2>${escapeHtml(name)}</h2>
${calls.map((call) => callHtml(document, call, code)).join('\n')}</section>`,
  )
  return `<h1>${escapeHtml(title)}</h1>
<p class="lead">${inline(info.description)}</p>
<p>Version ${escapeHtml(info.version)} · <a href="${json}">${json}</a> · <a href="/llms.txt">llms.txt</a></p>
${securityHtml(document)}
${sections.join('\n')}
<section id="schemas"><h2>Schemas</h2>
${schemasHtml(document)}
</section>`
}

/** What the page has, with its anchors. */
export const referenceGroups = (document: OpenApi): ReferenceGroup[] =>
  groupsOf(document).map(({ name, calls }) => ({
    ...{ id: anchor(name), title: name, calls: calls.map(referenceCall) },
  }))

function groupsOf(document: OpenApi): { name: string; calls: Call[] }[] {
  const calls = callsOf(document)
  return document.tags.map(({ name }) => ({
    name,
    calls: calls.filter(({ operation }) => (operation['tags'] as string[])[0] === name),
  }))
}

const referenceCall = ({ method, path, operation }: Call): ReferenceCall => ({
  id: String(operation['operationId']),
  name: `${method.toUpperCase()} ${path}`,
  summary: String(operation['summary']),
  text: String(operation['description'] ?? ''),
})

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
    : `<div class="table"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`

function callHtml(document: OpenApi, { method, path, operation }: Call, code: CodeHtml): string {
  const { operationId, summary, description, parameters, requestBody } = operation
  const body = requestBody as Json | undefined
  return `<details id="${operationId}"><summary><b class="${method}">${method.toUpperCase()}</b>
<code>${escapeHtml(path)}</code> <span>${escapeHtml(String(summary))}</span></summary>
${description === `${summary}.` ? '' : `<p>${inline(String(description))}</p>`}
${code(curlFor(document, method, path, operation), 'sh')}
${parametersHtml((parameters as Json[] | undefined) ?? [])}
${body === undefined ? '' : `<h4>Body</h4>${bodyHtml(body, code)}`}
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

// Renders a schema in short form, and request bodies with their examples.

export type Json = Record<string, unknown>

export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** A sentence with `code` in backticks. */
export const inline = (text: string): string =>
  escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

export function schemaHtml(schema: Json): string {
  const { $ref, anyOf, oneOf, properties, items, type } = schema
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `<a href="#schema-${name}">${name}</a>`
  }
  const note = typeof schema['description'] === 'string' ? ` ${inline(schema['description'])}` : ''
  const among = (anyOf ?? oneOf) as Json[] | undefined
  if (among !== undefined && properties === undefined) {
    return `${among.map(schemaHtml).join(' or ')}${note}`
  }
  if (typeof properties === 'object') return `${fieldsHtml(schema)}${note}`
  if (typeof items === 'object') return `list of ${schemaHtml(items as Json)}${note}`
  const values = schema['additionalProperties']
  if (type === 'object' && typeof values === 'object') {
    return `names with ${schemaHtml(values as Json)}${note}`
  }
  return `${plainHtml(schema)}${note}`
}

const limits: readonly [keyword: string, sign: string][] = [
  ['minimum', '≥ '],
  ['maximum', '≤ '],
  ['minLength', 'length ≥ '],
  ['maxLength', 'length ≤ '],
  ['minItems', 'items ≥ '],
  ['maxItems', 'items ≤ '],
]

function plainHtml(schema: Json): string {
  const { type, enum: words, const: only, format } = schema
  if (Array.isArray(words)) return words.map(valueHtml).join(' ')
  if (only !== undefined) return valueHtml(only)
  const name = Array.isArray(type) ? type.join(' or ') : String(type ?? 'anything')
  const bounds = limits.flatMap(([keyword, sign]) => {
    const bound = schema[keyword]
    return typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER
      ? [`${sign}${bound}`]
      : []
  })
  return [name, ...(typeof format === 'string' ? [format] : []), ...bounds]
    .map(escapeHtml)
    .join(', ')
}

const valueHtml = (value: unknown): string => `<code>${escapeHtml(JSON.stringify(value))}</code>`

function fieldsHtml(schema: Json): string {
  const required = (schema['required'] as string[] | undefined) ?? []
  const rows = Object.entries(schema['properties'] as Record<string, Json>).map(
    ([name, of]) =>
      `<li><code>${escapeHtml(name)}</code>${required.includes(name) ? ' <i>needed</i>' : ''} ${schemaHtml(of)}</li>`,
  )
  return rows.length === 0 ? 'object' : `<ul class="fields">${rows.join('')}</ul>`
}

export function bodyHtml(
  { content }: Json,
  code: (text: string, language: string) => string,
): string {
  return Object.entries(content as Record<string, Json>)
    .map(([type, { schema, examples }]) => {
      const shown = Object.entries((examples as Record<string, Json> | undefined) ?? {}).map(
        ([name, { value }]) =>
          `<h5>${escapeHtml(name)}</h5>${
            typeof value === 'string'
              ? code(value, 'text')
              : code(JSON.stringify(value, null, 2), 'json')
          }`,
      )
      return `<div>${escapeHtml(type)}: ${schemaHtml(schema as Json)}</div>${shown.join('')}`
    })
    .join('\n')
}

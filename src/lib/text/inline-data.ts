// JSON without inline binary data: a stored request need not contain its images.

const max = 256

/**
 * `data:image/png;base64,iVBOR…` of any length -> `data:image/png;base64,…`, and base64 longer than
 * any address -> `base64,…`; everything else stays.
 */
export function withoutInlineData<T>(value: T): T {
  if (typeof value === 'string') return cut(value) as T
  if (Array.isArray(value)) return value.map((each) => withoutInlineData<unknown>(each)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, withoutInlineData(inner)])
  return Object.fromEntries(entries) as T
}

const maxAddress = 8_192
const bare = new RegExp(`^[A-Za-z0-9+/]{${maxAddress}}`)

function cut(text: string): string {
  if (text.length > maxAddress && bare.test(text)) return 'base64,…'
  if (text.length <= max || !text.startsWith('data:')) return text
  const comma = text.indexOf(',')
  return `${text.slice(0, comma === -1 || comma > max ? 5 : comma + 1)}…`
}

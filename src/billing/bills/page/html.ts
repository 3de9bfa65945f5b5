// HTML that its values cannot break: every value is escaped unless it is HTML created here. Knows
// no page.

export interface Html {
  readonly html: string
}

type Value = string | number | Html | readonly Html[]

/** The result cannot open or close an element or attribute; control characters are dropped. */
export const escapeHtml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
    .replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const text = parts.map((part, i) => part + (i < values.length ? spelled(values[i]!) : ''))
  return { html: text.join('') }
}

function spelled(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  return 'html' in value ? value.html : value.map((each) => each.html).join('')
}

/** User-supplied text: isolates its writing direction. */
export const foreign = (text: string): Html => html`<bdi>${text}</bdi>`

// HTML that cannot be broken by what is put into it: every value is escaped unless it is HTML made
// here. Knows no page.

export interface Html {
  readonly html: string
}

type Value = string | number | Html | readonly Html[]

/** No element or attribute can begin or end in what this gives; control characters are left out. */
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

/** A text that somebody chose: its direction of writing stays its own. */
export const foreign = (text: string): Html => html`<bdi>${text}</bdi>`

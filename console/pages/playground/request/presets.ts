// A request to begin with: kept under a name in this browser, or carried by a link. It holds what is
// asked of which model, never who pays nor the token. Pure.
export interface Preset {
  /** Of the endpoint. */
  title: string
  model?: string
  /** The model beside it, if two are compared. */
  other?: string
  /** The body, as it is edited; of a conversation all of it as JSON. */
  text: string
  isConversation?: boolean
}

export interface NamedPreset extends Preset {
  name: string
}

export const maxPresets = 30
/** Longer ones are cut off by chat programs and mail; pictures as bytes are not for links. */
const maxLinkLength = 16_000
const maxTextLength = 200_000
const mark = '#request='

/** Tokens of the gateway and images are no part of a link, wherever they stand in the text. */
const withoutSecrets = (text: string): string =>
  text
    .replace(/\bsk-[\w-]{20,}/g, 'YOUR_TOKEN')
    .replace(/data:image\/[\w.+-]+;base64,[\w+/=-]*/gi, 'data:image/png;base64,')

/** What stands after the address of the page; undefined when it would be too long. */
export function fragmentOf({ title, model, other, text, isConversation }: Preset) {
  const shared = { title, model, other, isConversation, text: withoutSecrets(text) }
  const bytes = new TextEncoder().encode(JSON.stringify(shared))
  if (bytes.length > maxLinkLength * 0.7) return undefined
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return mark + btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Undefined for everything that is no such request. */
export function presetIn(fragment: string): Preset | undefined {
  if (!fragment.startsWith(mark) || fragment.length > 2 * maxLinkLength) return undefined
  try {
    const code = fragment.slice(mark.length).replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0))
    return presetFrom(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    return undefined
  }
}

/** It may come from another person, so only the known texts are taken. */
export function presetFrom(value: unknown): Preset | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { title, model, other, text, isConversation } = value as Record<string, unknown>
  if (typeof title !== 'string' || typeof text !== 'string') return undefined
  return {
    title,
    text,
    ...(typeof model === 'string' && { model }),
    ...(typeof other === 'string' && { other }),
    ...(isConversation === true && { isConversation }),
  }
}

export function presetsIn(text: string | undefined): NamedPreset[] {
  try {
    const read = JSON.parse(text ?? '[]') as unknown
    if (!Array.isArray(read)) return []
    return read.flatMap((each: unknown) => {
      const preset = presetFrom(each)
      const { name } = (each ?? {}) as { name?: unknown }
      return preset === undefined || typeof name !== 'string' ? [] : [{ ...preset, name }]
    })
  } catch {
    return []
  }
}

/** With it, instead of one of the same name; undefined when it is too long to be kept. */
export function withPreset(
  presets: readonly NamedPreset[],
  added: NamedPreset,
): NamedPreset[] | undefined {
  if (added.text.length > maxTextLength) return undefined
  return [...presets.filter(({ name }) => name !== added.name), added].slice(-maxPresets)
}

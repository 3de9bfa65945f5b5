// The two languages of the console. A page brings its own dictionary; Chinese must have every key
// English has, or the type check fails. `{name}` in a text is filled in.
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'
export interface Messages<K extends string> {
  en: Readonly<Record<K, string>>
  zh: Readonly<Record<K, string>>
}

export function defineMessages<K extends string>(messages: {
  en: Record<K, string>
  zh: Record<NoInfer<K>, string>
}): Messages<K> {
  return messages
}

const key = 'gateway-language'
const changed = new EventTarget()

function remembered(): Language {
  let stored: string | null = null
  try {
    stored = localStorage.getItem(key)
  } catch {
    // Without localStorage the language of the browser is used.
  }
  if (stored === 'en' || stored === 'zh') return stored
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

let language = remembered()
document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'

export function setLanguage(to: Language): void {
  language = to
  document.documentElement.lang = to === 'zh' ? 'zh-CN' : 'en'
  try {
    localStorage.setItem(key, to)
  } catch {
    // It holds until the page is closed.
  }
  changed.dispatchEvent(new Event('change'))
}

const subscribe = (listener: () => void) => {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}

export const useLanguage = (): Language => useSyncExternalStore(subscribe, () => language)

/** For dates and numbers. */
export const localeOf = (of: Language): string => (of === 'zh' ? 'zh-CN' : 'en-GB')

type Values = Readonly<Record<string, string | number>>
export type Translate<K extends string> = (key: K, values?: Values) => string

/** The text with `{name}` filled in. */
export const fillIn = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

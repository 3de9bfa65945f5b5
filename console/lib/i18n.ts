// The two languages of the console. A page brings its own dictionary, in which every key has its text in
// both. `{name}` in a text is filled in.
import { useSyncExternalStore } from 'react'
import type { Messages, Text } from './texts.ts'

export type Language = 'en' | 'zh'
export const defineMessages = <K extends string>(messages: Messages<K>): Messages<K> => messages

export const textIn = (language: Language, [en, zh]: Text): string => (language === 'zh' ? zh : en)

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

/** For dates and numbers: the reader's own form of the language, as the fields of the browser have it. */
export const localeOf = (of: Language): string =>
  navigator.languages.find((each) => each.toLowerCase().split('-')[0] === of) ??
  (of === 'zh' ? 'zh-CN' : 'en-GB')

type Values = Readonly<Record<string, string | number>>
export type Translate<K extends string> = (key: K, values?: Values) => string

/** The text with `{name}` filled in. */
export const fillIn = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

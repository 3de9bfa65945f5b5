// Texts in two languages. A page brings its own dictionary; Chinese must have every key English has,
// or the type check fails. `{name}` in a text is filled in.
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'
export interface Words<K extends string> {
  en: Readonly<Record<K, string>>
  zh: Readonly<Record<K, string>>
}

export function defineWords<K extends string>(words: {
  en: Record<K, string>
  zh: Record<NoInfer<K>, string>
}): Words<K> {
  return words
}

const key = 'gateway-language'
const changed = new EventTarget()

function remembered(): Language {
  let kept: string | null = null
  try {
    kept = localStorage.getItem(key)
  } catch {
    // A browser that keeps nothing has its own language.
  }
  if (kept === 'en' || kept === 'zh') return kept
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
    // Then it holds until the page is closed.
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

export type Fill = Readonly<Record<string, string | number>>
export type Say<K extends string> = (key: K, fill?: Fill) => string

export function useWords<K extends string>(words: Words<K>): Say<K> {
  const dictionary = words[useLanguage()]
  return (word, fill = {}) => {
    // Words of the gateway are looked up, too, and a newer one may say what is not here yet.
    const text = Object.hasOwn(dictionary, word) ? dictionary[word] : String(word)
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole))
  }
}

// What is being edited in each tab of the playground, until the browser tab is closed or the person signs
// out: changing the interface or the page loses nothing.
import { type Preset, presetFrom } from './presets.ts'

const keyOf = (title: string): string => `gateway-draft ${title}`
const lastKey = 'gateway-draft-tab'

export function draftOf(title: string): Preset | undefined {
  try {
    const draft = presetFrom(JSON.parse(sessionStorage.getItem(keyOf(title)) ?? 'null'))
    return draft?.title === title ? draft : undefined
  } catch {
    return undefined
  }
}

export function keepDraft(draft: Preset): void {
  try {
    sessionStorage.setItem(keyOf(draft.title), JSON.stringify(draft))
    sessionStorage.setItem(lastKey, draft.title)
  } catch {
    // Too long, or no storage: it lasts as long as the page.
  }
}

/** The tab that was open last. */
export function lastTitle(): string | undefined {
  try {
    return sessionStorage.getItem(lastKey) ?? undefined
  } catch {
    return undefined
  }
}

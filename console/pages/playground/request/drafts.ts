// What is being edited in each tab of the playground, and the conversation, until the browser tab is closed or the person signs
// out: changing the interface or the page loses nothing.
import { type Preset, presetFrom } from './presets.ts'

/** All styles of text have one conversation. */
const conversationKey = 'conversation'
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
    keepTitle(draft.title)
    sessionStorage.setItem(keyOf(draft.title), JSON.stringify(draft))
  } catch {
    // Too long, or no storage: it lasts as long as the page.
  }
}

export function conversationDraft(): Preset | undefined {
  try {
    return presetFrom(JSON.parse(sessionStorage.getItem(keyOf(conversationKey)) ?? 'null'))
  } catch {
    return undefined
  }
}

export function keepConversation(draft: Preset): void {
  try {
    keepTitle(draft.title)
    sessionStorage.setItem(keyOf(conversationKey), JSON.stringify(draft))
  } catch {
    // Images may be larger than what a tab can store.
  }
}

export function keepTitle(title: string): void {
  try {
    sessionStorage.setItem(lastKey, title)
  } catch {
    // The first tab opens next time.
  }
}

/** The interface that was open last. */
export function lastTitle(): string | undefined {
  try {
    return sessionStorage.getItem(lastKey) ?? undefined
  } catch {
    return undefined
  }
}

// Redacts upstream text before it leaves the gateway: removes secrets, internal addresses and stack
// traces, keeps the sentence. What the caller itself sent stays readable. Each rule has its own
// file; this one knows only their order.
import { createKept, createOwn, type Kept, withoutShields } from './keep.ts'
import { hostsOf, withoutAddresses, withoutHosts, withoutPaths, withoutUrls } from './places.ts'
import { createEraser } from './secrets.ts'
import { withoutShapes } from './shapes.ts'
import { withoutStack } from './stack.ts'

export { takeRequestId } from './request-id.ts'

interface CleanContext {
  /** The caller's request as received: its own addresses stay readable, secrets never do. */
  readonly keep?: string
  /** Whole words to replace, such as an upstream's model name. */
  readonly rename?: readonly (readonly [from: string, to: string])[]
}

export interface Cleaner {
  /**
   * For whole error texts. There is no window over a stream: model output is never rewritten, and
   * an error event is parsed as a whole before its text comes here, so that no secret can span two
   * chunks. A plain string as context is `keep`.
   */
  clean(text: string, context?: string | CleanContext): string
  /** Removes configured secrets only: for our own log lines. */
  cleanLine(text: string): string
}

/** Maximum length of a redacted error text. */
const maxLength = 2_000
/** Maximum length of the text that is processed. */
const maxInput = maxLength * 4
/** A rule may expose work for another one; beyond the second round the text is contrived. */
const maxRounds = 12

export function createCleaner(secrets: Iterable<string>, hosts: Iterable<string> = []): Cleaner {
  const erase = createEraser(secrets)
  const hostNames = hostsOf(hosts)
  const round = (text: string, kept: Kept): string => {
    let out = withoutUrls(erase(text), kept)
    out = withoutShapes(out, (match) => kept.isOwn(match, 'word'))
    out = withoutHosts(out, hostNames, kept)
    out = withoutPaths(withoutAddresses(out, kept), kept)
    return cut(squeezed(kept.restore(out)), maxLength).trimEnd()
  }
  return {
    cleanLine: erase,
    clean(text, context = {}) {
      const { keep = '', rename = [] } = typeof context === 'string' ? { keep: context } : context
      const start = squeezed(withoutShields(cut(text, maxInput)))
      let out = renamed(erase(start), rename)
      const isOwn = createOwn(keep)
      for (let i = 0; i < maxRounds; i++) {
        const next = round(out, createKept(isOwn))
        if (next === out) break
        out = next
      }
      return out === '' && text.trim() !== '' ? 'no readable message' : out
    },
  }
}

function squeezed(text: string): string {
  return withoutStack(text)
    .replace(/\[secret\](?:\[secret\])+/g, '[secret]')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Does not split a character. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const isSplit = /[\ud800-\udbff]/.test(text[length - 1]!)
  return text.slice(0, isSplit ? length - 1 : length)
}

/** Whole words, all at once: one pair's output is not input for the next. */
function renamed(text: string, rename: readonly (readonly [string, string])[]): string {
  const names = new Map(rename.filter(([from]) => from !== ''))
  if (names.size === 0) return text
  const words = [...names.keys()].sort((a, b) => b.length - a.length).map(escapePattern)
  const pattern = new RegExp(`(?<![\\w.-])(?:${words.join('|')})(?!\\w|-|\\.\\w)`, 'g')
  return text.replace(pattern, (word) => names.get(word) ?? word)
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

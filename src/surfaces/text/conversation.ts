// Which conversation a call belongs to: by the name that the caller or its tool gives it, else by how
// it begins. Asked for only where a call can go to several channels or keys.
import type { ConversationIdentity } from '../../contract/requests.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { isObject } from '../../lib/json/parse.ts'

/** The parts of a request that tell its conversation from others. */
export interface Opening {
  /** Names of the conversation in the body: one that counts before headers, and one that counts after. */
  cacheKey?: unknown
  userId?: unknown
  instructions?: unknown
  tools?: unknown
  /** A list, or a text as the only one. */
  turns: unknown
}

/** In which tools name their session. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'x-session-affinity',
  'x-session-id',
  'x-opencode-session',
  'x-qwen-code-session-id',
] as const

const maxNameLength = 1_024
/** How much of its beginning identifies a conversation: strings of each part, and of a string its ends. */
const maxStrings = 16
const endLength = 64
/** Values that are looked at for strings. */
const maxVisits = 256
/** Turns before the user's first one. */
const maxOpeningTurns = 8
const maxDepth = 6

export function identify(
  { request: { headers } }: Pick<RequestContext, 'request'>,
  opening: Opening,
): ConversationIdentity {
  const turns = turnsOf(opening.turns)
  const isNew = !turns.some(isAnswer)
  const named = (by: string, name: unknown): ConversationIdentity | undefined =>
    typeof name === 'string' && name !== ''
      ? { by, text: name.slice(0, maxNameLength), isNew }
      : undefined
  const own = named('prompt_cache_key', opening.cacheKey)
  if (own !== undefined) return own
  for (const header of sessionHeaders) {
    const session = named(header, headers.get(header))
    if (session !== undefined) return session
  }
  return named('metadata.user_id', opening.userId) ?? { text: beginningOf(opening, turns), isNew }
}

const turnsOf = (turns: unknown): readonly unknown[] => (Array.isArray(turns) ? turns : [turns])

/** A turn of the model, or a call that it made. */
function isAnswer(turn: unknown): boolean {
  if (!isObject(turn)) return false
  const { role, type } = turn
  if (role === 'assistant' || role === 'model') return true
  return role == null && typeof type === 'string' && /(_call|reasoning)$/.test(type)
}

const isUsers = (turn: unknown): boolean =>
  !isObject(turn) || turn['role'] === 'user' || (turn['role'] == null && turn['type'] == null)

/** Instructions, tools and all up to the user's first turn, each shortened. */
function beginningOf({ instructions, tools }: Opening, turns: readonly unknown[]): string {
  const first = turns.findIndex(isUsers)
  const opening = turns.slice(0, Math.min(first === -1 ? turns.length : first + 1, maxOpeningTurns))
  return [instructions, tools, opening].map((part) => stringsIn(part).join('\n')).join('\n\n')
}

/** They differ from turn to turn: marks move on, and a text becomes a list of one part. */
const passing = new Set(['cache_control', 'prompt_cache_breakpoint', 'type', 'id', 'status'])

function stringsIn(value: unknown): string[] {
  const found: string[] = []
  let visits = 0
  const isEnough = () => found.length >= maxStrings || visits >= maxVisits
  const add = (each: unknown, depth: number): void => {
    visits++
    if (typeof each === 'string') found.push(shortened(each))
    else if (typeof each !== 'object' || each === null || depth >= maxDepth) return
    else if (Array.isArray(each)) {
      for (let i = 0; i < each.length && !isEnough(); i++) add(each[i], depth + 1)
    } else {
      for (const name in each) {
        if (isEnough()) return
        if (!passing.has(name)) add((each as Fields)[name], depth + 1)
      }
    }
  }
  add(value, 0)
  return found
}

type Fields = Readonly<Record<string, unknown>>

const shortened = (text: string): string =>
  text.length <= 2 * endLength
    ? text
    : `${text.length}:${text.slice(0, endLength)}${text.slice(-endLength)}`

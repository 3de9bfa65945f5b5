// Tags of a call and its end user, as one text: `job=7,team=red,@=alice`. Names are in order, so equal
// tags are equal texts; the end user comes last, under a name that no tag can have. No I/O.
import type { Token } from '../catalog.ts'
import { type Refusal, refuse } from '../errors.ts'
import { shownName } from '../totals.ts'

export const tagsHeader = 'x-gateway-tags'

/** Tags in one header, and defaults of one token. */
export const maxTags = 5
/** Names that an account declares. */
export const maxTagNames = 20

export const tagNamePattern = /^[a-z][a-z0-9_-]{0,31}$/
export const tagValuePattern = /^[A-Za-z0-9._:/@-]{1,64}$/

export const endUserModes = ['hashed', 'plain', 'off'] as const

/** By name. */
export type Tags = Readonly<Record<string, string>>

/** The name of the end user among tags. */
export const endUserName = '@'

const pairOf = (name: string, value: string): string => `${name}=${value}`

/** Undefined when there are none. */
export function tagText(
  tags: Iterable<readonly [name: string, value: string]>,
): string | undefined {
  const pairs = [...tags].map(([name, value]) => pairOf(name, value))
  return pairs.length === 0 ? undefined : pairs.sort().join(',')
}

/** The defaults of a token: those whose names its account declares. */
export const defaultTags = (tags: Tags, names: readonly string[] = []): string | undefined =>
  tagText(Object.entries(tags).filter(([name]) => names.includes(name)))

/** As it is in the text. */
export const endUserText = (endUser: string): string => encodeURIComponent(endUser.toWellFormed())

/** One pair as it is in the text. */
export const endUserPair = (endUser: string): string => pairOf(endUserName, endUserText(endUser))

export const withEndUser = (tags: string | undefined, endUser: string): string =>
  tags === undefined ? endUserPair(endUser) : `${tags},${endUserPair(endUser)}`

/** The pairs of a text, the end user's included. */
export const pairsIn = (text: string): [name: string, value: string][] =>
  text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at), pair.slice(at + 1)]
  })

function endUserOf(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    // Not written by the gateway.
    return value
  }
}

/** As the admin API shows them. */
export function tagsView(text: string | undefined): { tags: Tags; end_user: string | null } {
  const pairs = text === undefined ? [] : pairsIn(text)
  const last = pairs.at(-1)
  const user = last?.[0] === endUserName ? last[1] : undefined
  return {
    tags: Object.fromEntries(user === undefined ? pairs : pairs.slice(0, -1)),
    end_user: user === undefined ? null : endUserOf(user),
  }
}

/** The value of a tag in a text. */
export const tagIn = (text: string | undefined, name: string): string | undefined =>
  text === undefined ? undefined : pairsIn(text).find(([each]) => each === name)?.[1]

/** The tags of a call: those of its header over the defaults of its token. */
export function readTags(
  header: string | null,
  { tagNames = [], tagDefaults }: Pick<Token, 'tagNames' | 'tagDefaults'>,
): string | undefined | Refusal {
  if (header === null || header === '') return tagDefaults
  const given = new Map<string, string>()
  for (const part of header.split(',')) {
    const pair = part.replace(blanks, '')
    // An empty line among several joined ones, too.
    if (pair === '') continue
    const problem = take(given, pair, tagNames)
    if (problem !== undefined) return refuse('invalid_request', problem, { param: tagsHeader })
  }
  if (given.size === 0 || tagDefaults === undefined) return tagText(given) ?? tagDefaults
  return tagText(new Map([...pairsIn(tagDefaults), ...given]))
}

/** The tags of work that is repeated: its own and its end user, over the defaults of its token. */
export function repeatedTags(
  own: string | undefined,
  { tagDefaults }: Pick<Token, 'tagDefaults'>,
): string | undefined {
  if (own === undefined || tagDefaults === undefined) return own ?? tagDefaults
  const all = new Map([...pairsIn(tagDefaults), ...pairsIn(own)])
  const endUser = all.get(endUserName)
  all.delete(endUserName)
  const tags = tagText(all)
  return endUser === undefined ? tags : `${tags},${pairOf(endUserName, endUser)}`
}

const blanks = /^[ \t]+|[ \t]+$/g
const maxShown = 64

function take(
  given: Map<string, string>,
  pair: string,
  names: readonly string[],
): string | undefined {
  const at = pair.indexOf('=')
  if (at === -1) return `'${tagsHeader}' must be of the form name=value,name=value`
  const name = pair.slice(0, at).replace(blanks, '')
  const value = pair.slice(at + 1).replace(blanks, '')
  if (!names.includes(name)) {
    return `the tag '${name.slice(0, maxShown)}' is not one that the account declares: ${names.join(', ') || 'it declares none'}`
  }
  if (given.has(name)) return `the tag '${name}' is given twice`
  if (!tagValuePattern.test(value)) {
    return `the value of the tag '${name}' must have 1 to 64 letters, digits or characters of ._:/@-`
  }
  if (given.size === maxTags) return `'${tagsHeader}' takes at most ${maxTags} tags`
  given.set(name, value)
  return undefined
}

/** `team=red` */
export function isTag(text: string): boolean {
  const at = text.indexOf('=')
  return (
    tagNamePattern.test(text.slice(0, Math.max(at, 0))) && tagValuePattern.test(text.slice(at + 1))
  )
}

/** The end user that a body names. */
export function endUserIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { safety_identifier, user, metadata } = fields
  if (safety_identifier === undefined && user === undefined && metadata === undefined) {
    return undefined
  }
  const inner =
    typeof metadata === 'object' && metadata !== null
      ? (metadata as Record<string, unknown>)['user_id']
      : undefined
  return [safety_identifier, user, inner].find(isName)
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** A key by which charges are grouped: a tag, or the end user. */
export type TagKey = `tag:${string}` | 'end_user'

export const isTagKey = (word: string): word is TagKey =>
  word === 'end_user' || (word.startsWith('tag:') && tagNamePattern.test(word.slice(4)))

/** The first of these words that is one. */
export const tagKeyAmong = (words: readonly string[]): TagKey | undefined => words.find(isTagKey)

/** As it is in the text of tags. */
export const nameOfKey = (key: TagKey): string => (key === 'end_user' ? endUserName : key.slice(4))

/** The value of a key as answers show it; null: charges without one. */
export const shownValue = (key: TagKey, value: string | undefined) =>
  key === 'end_user'
    ? { end_user: value === undefined ? null : shownName(endUserOf(value)) }
    : { tag: value === undefined ? null : shownName(value) }

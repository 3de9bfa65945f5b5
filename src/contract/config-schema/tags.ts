// Tags as accounts and tokens declare them.
import { z } from 'zod'
import {
  endUserModes,
  maxTagNames,
  maxTags,
  tagNamePattern,
  tagValuePattern,
} from '../tags/index.ts'
import { text, unique } from './fields.ts'

const tagName = (description: string) =>
  text(
    tagNamePattern,
    'a tag name: a small letter, then up to 31 small letters, digits, dashes or underscores',
    description,
  )

/** What an account says of the tags and end users of its calls. */
export const accountTagFields = {
  tag_names: z
    .array(tagName('Name of a tag.'))
    .max(maxTagNames)
    .refine(unique, 'must not name a tag twice')
    .meta({ description: 'Names of the tags that calls may carry. Left out, none.' })
    .optional(),
  end_users: z
    .enum(endUserModes)
    .meta({ description: 'How end users that calls name are kept. Default hashed.' })
    .optional(),
}

export const defaultTagsField = z
  .record(
    tagName('Name of a tag that the account declares.'),
    text(
      tagValuePattern,
      '1 to 64 letters, digits or characters of ._:/@-',
      'Its value for the calls of this token.',
    ),
  )
  .refine((tags) => Object.keys(tags).length <= maxTags, `must have at most ${maxTags} tags`)
  .meta({ description: 'Tags of its calls, which x-gateway-tags overrides name by name.' })

interface DeclaredTags {
  tag_names?: readonly string[] | null | undefined
  end_users?: (typeof endUserModes)[number] | null | undefined
}

/** Null: as if it had never been set; absent: not said. */
export const accountTagsFrom = ({ tag_names, end_users }: DeclaredTags) => ({
  ...(tag_names !== undefined && { tagNames: tag_names?.length ? tag_names : null }),
  ...(end_users !== undefined && {
    endUsers: end_users === 'plain' || end_users === 'off' ? end_users : null,
  }),
})

/** Why an account does not take these tags as defaults of a token. */
export function undeclaredTag(
  tags: Readonly<Record<string, string>> | null | undefined,
  names: readonly string[] = [],
): string | undefined {
  const unknown = Object.keys(tags ?? {}).find((name) => !names.includes(name))
  if (unknown === undefined) return undefined
  return `the tag '${unknown}' is not one that the account declares: ${names.join(', ') || 'it declares none'}`
}

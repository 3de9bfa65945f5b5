// The profile of an account as the file and the admin API take it.
import { z } from 'zod'
import { declaredProfile, type ProfileField, profileNames, profileOf } from './profile-fields.ts'

export type Profile = { readonly [Field in ProfileField]?: string }
/** Null: as if it had never been set; absent: not said. */
export type ProfileChange = { readonly [Field in ProfileField]?: string | null | undefined }

const controls = /[\p{Cc}\p{Cs}]/u

/** A line break is the only control character of a text with several lines. */
function fits(text: string, max: number, hasLines: boolean): boolean {
  const plain = hasLines ? text.replaceAll('\n', '') : text
  return text.trim() !== '' && [...text].length <= max && !controls.test(plain)
}

function fieldNamed(name: ProfileField): z.ZodOptional<z.ZodType<string, string>> {
  const { max, kind, about: description } = declaredProfile(name)
  if (kind === 'email') {
    return z.email({ error: 'must be an e-mail address' }).max(max).meta({ description }).optional()
  }
  const hasLines = kind === 'lines'
  const rule = `must be 1 to ${max} characters${hasLines ? '' : ' on one line'}`
  return z
    .string()
    .refine((text) => fits(text, max, hasLines), rule)
    .meta({ description })
    .optional()
}

export const profileFields = profileOf(fieldNamed)

/** The same in a change: null takes a field away. */
export const profileChange = profileOf((name) => profileFields[name].nullable())

/** The fields among others. */
export function profileIn(declared: ProfileChange): ProfileChange {
  const said = profileNames.filter((name) => declared[name] !== undefined)
  return Object.fromEntries(said.map((name) => [name, declared[name]]))
}

// Who an account is: the names and addresses that bills and people use. Declared here once; the file, the
// admin API, the command line and the store derive their fields from it.
import { z } from 'zod'

/** A line break is the only control character of an address. */
const controls = /[\p{Cc}\p{Cs}]/u

const line = (maxCharacters: number, description: string) =>
  z
    .string()
    .refine(
      (text) => text.trim() !== '' && [...text].length <= maxCharacters && !controls.test(text),
      `must be 1 to ${maxCharacters} characters on one line`,
    )
    .meta({ description })
    .optional()

const maxAddress = 500

export const profileFields = {
  display_name: line(120, 'Name that people see, in any script.'),
  legal_name: line(200, 'Name on bills.'),
  address: z
    .string()
    .refine(
      (text) =>
        text.trim() !== '' &&
        [...text].length <= maxAddress &&
        !controls.test(text.replaceAll('\n', '')),
      `must be 1 to ${maxAddress} characters`,
    )
    .meta({ description: 'Address on bills, several lines.' })
    .optional(),
  tax_id: line(64, 'Tax number on bills.'),
  email: z
    .email({ error: 'must be an e-mail address' })
    .max(254)
    .meta({ description: 'Where bills are sent.' })
    .optional(),
  contact: line(200, 'Who to ask for.'),
}

export type ProfileField = keyof typeof profileFields
export type Profile = { readonly [Field in ProfileField]?: string }
/** Null: as if it had never been set; absent: not said. */
export type ProfileChange = { readonly [Field in ProfileField]?: string | null | undefined }

export const profileNames = Object.keys(profileFields) as ProfileField[]

/** A value for each field. */
export const profileOf = <T>(of: (name: ProfileField) => T): Record<ProfileField, T> =>
  Object.fromEntries(profileNames.map((name) => [name, of(name)])) as Record<ProfileField, T>

/** The fields among others. */
export function profileIn(declared: ProfileChange): ProfileChange {
  const said = profileNames.filter((name) => declared[name] !== undefined)
  return Object.fromEntries(said.map((name) => [name, declared[name]]))
}

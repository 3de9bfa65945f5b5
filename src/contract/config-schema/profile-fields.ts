// Who an account is: the names and addresses that people and bills use. Declared here once, as plain data; the
// file, the admin API, the command line, the store and the console's form derive their fields from it.

interface DeclaredField {
  readonly max: number
  /** `lines`: several of them; absent: one line. */
  readonly kind?: 'lines' | 'email'
  readonly about: string
}

const profileTable = {
  display_name: { max: 120, about: 'Name that people see, in any script.' },
  legal_name: { max: 200, about: 'Name on bills.' },
  address: { max: 500, kind: 'lines', about: 'Address on bills, several lines.' },
  tax_id: { max: 64, about: 'Tax number on bills.' },
  email: { max: 254, kind: 'email', about: 'Where bills are sent.' },
  contact: { max: 200, about: 'Who to ask for.' },
  phone: { max: 40, about: 'Telephone number of the contact.' },
} as const satisfies Record<string, DeclaredField>

export type ProfileField = keyof typeof profileTable

export const profileNames = Object.keys(profileTable) as ProfileField[]

export const declaredProfile = (name: ProfileField): DeclaredField => profileTable[name]

/** A value for each field. */
export const profileOf = <T>(of: (name: ProfileField) => T): Record<ProfileField, T> =>
  Object.fromEntries(profileNames.map((name) => [name, of(name)])) as Record<ProfileField, T>

/** Of an account whose people or operators have said no other, the name that callers know. */
export const nameOnBills = (
  name: string,
  profile: { readonly legal_name?: string; readonly display_name?: string } | undefined,
): string => profile?.legal_name ?? profile?.display_name ?? name

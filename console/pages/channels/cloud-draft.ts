// What a person has typed about an account at a cloud. It is sent once and never shown again.

export type CloudKind = 'aws' | 'google' | 'azure'

const cloudFields = {
  aws: ['region', 'access_key', 'secret_key', 'session_token'],
  google: ['location', 'project', 'service_account'],
  azure: ['tenant', 'client_id', 'client_secret', 'authority'],
} as const

export type CloudField = (typeof cloudFields)[CloudKind][number]

export interface CloudDraft {
  /** In place of an account: keys of the provider, or the account of the machine. */
  mode: 'account' | 'keys' | 'machine'
  values: Readonly<Partial<Record<CloudField, string>>>
}

export const emptyCloud: CloudDraft = { mode: 'account', values: {} }

const optional: ReadonlySet<CloudField> = new Set(['session_token', 'project', 'authority'])

const typedIn = ({ values }: CloudDraft, field: CloudField): string => values[field]?.trim() ?? ''

/** Whether a field must be filled in. */
export const isNeeded = (field: CloudField, { mode }: CloudDraft): boolean =>
  mode === 'machine' ? field !== 'service_account' : !optional.has(field)

/** Which fields there are; that of the machine has no JSON. */
export const fieldsOf = (kind: CloudKind, { mode }: CloudDraft): readonly CloudField[] =>
  mode === 'keys'
    ? []
    : cloudFields[kind].filter((field) => mode === 'account' || field !== 'service_account')

type CloudMistake = 'bad_place' | 'bad_word' | 'bad_json' | 'bad_account' | 'no_project'

const placeFields: ReadonlySet<CloudField> = new Set(['region', 'location'])

/** What is wrong with a field; the gateway checks it again. Nothing is wrong with an empty one. */
export function mistakeIn(field: CloudField, draft: CloudDraft): CloudMistake | undefined {
  const value = typedIn(draft, field)
  if (value === '') return undefined
  if (placeFields.has(field)) return /^[a-z0-9-]{1,40}$/.test(value) ? undefined : 'bad_place'
  if (field !== 'service_account') return /^[\x21-\x7e]+$/.test(value) ? undefined : 'bad_word'
  const account = parsed(value)
  if (account === undefined) return 'bad_json'
  if (!account['client_email'] || !account['private_key']) return 'bad_account'
  return account['project_id'] || typedIn(draft, 'project') !== '' ? undefined : 'no_project'
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export const isCloudComplete = (kind: CloudKind, draft: CloudDraft): boolean =>
  fieldsOf(kind, draft).every(
    (field) =>
      (!isNeeded(field, draft) || typedIn(draft, field) !== '') &&
      mistakeIn(field, draft) === undefined,
  )

/** As the admin API takes it. */
export function cloudBody(kind: CloudKind, draft: CloudDraft): object {
  const said = (...fields: CloudField[]): Record<string, string> =>
    Object.fromEntries(
      fields
        .map((field) => [field, typedIn(draft, field)])
        .filter((pair): pair is [string, string] => pair[1] !== ''),
    )
  if (draft.mode === 'keys') return {}
  if (kind !== 'google') return { auth: { [kind]: said(...cloudFields[kind]) } }
  const google = draft.mode === 'machine' ? {} : said('service_account')
  return { auth: { google }, vertex: said('location', 'project') }
}

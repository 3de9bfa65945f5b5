// The fields of an account at a cloud, which stand in place of keys.
import { Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { ApiError } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import {
  type CloudDraft,
  type CloudField,
  type CloudKind,
  fieldsOf,
  isNeeded,
  mistakeIn,
} from './cloud-draft.ts'
import { cloudMessages } from './cloud-messages.ts'

interface Props {
  kind: CloudKind
  draft: CloudDraft
  onChange: (draft: CloudDraft) => void
  /** It has an account already, which stays if nothing is typed. */
  hasAccount?: boolean
  /** The last refusal, which may name one of the fields. */
  error?: Error | undefined
}

const modes = {
  aws: ['account', 'keys'],
  google: ['account', 'machine'],
  azure: [],
} as const

const modeNames = {
  aws: { account: 'aws_account', keys: 'aws_keys' },
  google: { account: 'google_account', machine: 'google_machine' },
  azure: {},
} as const

export function CloudFields({ kind, draft, onChange, hasAccount = false, error }: Props) {
  const t = useMessages(cloudMessages)
  const names: Readonly<
    Record<string, 'aws_account' | 'aws_keys' | 'google_account' | 'google_machine'>
  > = modeNames[kind]
  return (
    <Stack>
      {modes[kind].length > 0 && !hasAccount && (
        <Radio.Group
          label={t('credential')}
          value={draft.mode}
          onChange={(mode) => onChange({ ...draft, mode: mode as CloudDraft['mode'] })}
        >
          <Stack gap="xs" mt="xs">
            {modes[kind].map((mode) => (
              <Radio key={mode} value={mode} label={t(names[mode]!)} />
            ))}
          </Stack>
        </Radio.Group>
      )}
      {draft.mode !== 'keys' && (
        <Text size="sm" c="dimmed">
          {draft.mode === 'machine' ? t('google_machine_hint') : t(hasAccount ? 'keep' : 'once')}
        </Text>
      )}
      {fieldsOf(kind, draft).map((field) => (
        <Field
          key={field}
          {...{ kind, field, draft, onChange, error }}
          isRequired={!hasAccount && isNeeded(field, draft)}
        />
      ))}
    </Stack>
  )
}

/** `auth.aws.region` and `vertex.location`, as refusals name them. */
const pathsOf = (kind: CloudKind, field: CloudField): readonly string[] =>
  field === 'location' || field === 'project'
    ? [`vertex.${field}`, ...(field === 'project' ? ['vertex'] : [])]
    : [`auth.${kind}.${field}`]

const secretFields: ReadonlySet<CloudField> = new Set([
  ...(['secret_key', 'session_token', 'client_secret', 'service_account'] as const),
])

function Field({
  kind,
  field,
  draft,
  onChange,
  isRequired,
  error,
}: Omit<Props, 'hasAccount'> & { field: CloudField; isRequired: boolean }) {
  const t = useMessages(cloudMessages)
  const server = useServerText()
  const mistake = mistakeIn(field, draft)
  const isRefused = error instanceof ApiError && pathsOf(kind, field).includes(error.param ?? '')
  const shared = {
    label: t(field),
    description: t(`${field}_hint`),
    required: isRequired,
    autoComplete: 'off',
    spellCheck: false,
    value: draft.values[field] ?? '',
    error:
      mistake !== undefined ? t(mistake) : isRefused ? server.sentence(error.message) : undefined,
    // Ids of accounts are as secret as keys.
    ...(field !== 'region' && field !== 'location' && { classNames: { input: 'private' } }),
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...draft, values: { ...draft.values, [field]: event.currentTarget.value } }),
  }
  if (field === 'service_account') return <Textarea {...shared} autosize minRows={3} maxRows={8} />
  return <TextInput {...shared} type={secretFields.has(field) ? 'password' : 'text'} />
}

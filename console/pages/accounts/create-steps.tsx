// The steps of a new account, one component each, and what is shown when they are done.
import { Alert, SimpleGrid, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import {
  declaredProfile,
  profileNames,
} from '../../../src/contract/config-schema/profile-fields.ts'
import { BudgetFields } from '../../components/billing/budget.tsx'
import { ConnectTabs } from '../../components/connect-tabs.tsx'
import { CopyBlock } from '../../components/copy.tsx'
import { ModelNames } from '../../components/fields/model-names.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { State } from '../../components/values.tsx'
import { useFieldError } from '../../lib/field-errors.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { type Draft, type Made, wrongEmails } from './onboarding.ts'
import { profileMessages } from './profile-messages.ts'

interface StepProps {
  draft: Draft
  onChange: (part: Partial<Draft>) => void
}

export function CustomerStep({ draft, onChange }: StepProps) {
  const t = useMessages(messages)
  const profileText = useMessages(profileMessages)
  const wrong = useFieldError()
  const { name, profile } = draft
  const fieldOf = (field: (typeof profileNames)[number]) => {
    const { max, kind = 'text' } = declaredProfile(field)
    const common = {
      label: profileText(field),
      maxLength: max,
      autoComplete: 'off',
      value: profile[field],
      onChange: (event: { currentTarget: { value: string } }) =>
        onChange({ profile: { ...profile, [field]: event.currentTarget.value } }),
    }
    return kind === 'lines' ? (
      <Textarea key={field} {...common} autosize minRows={1} maxRows={6} />
    ) : (
      <TextInput key={field} {...common} type={kind} />
    )
  }
  return (
    <Stack>
      <TextInput
        label={t('name')}
        description={t('name_hint')}
        required
        data-autofocus
        autoComplete="off"
        value={name}
        error={wrong('name', name)}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>{profileNames.map(fieldOf)}</SimpleGrid>
    </Stack>
  )
}

export function MoneyStep({ draft, onChange }: StepProps) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const wrong = useFieldError()
  const { balance, threshold, budget } = draft
  return (
    <Stack>
      <TextInput
        label={`${t('opening')} (${currency})`}
        description={t('opening_hint')}
        data-autofocus
        inputMode="decimal"
        placeholder="100.00"
        value={balance}
        error={wrong('amount', balance)}
        onChange={(event) => onChange({ balance: event.currentTarget.value })}
      />
      <BudgetFields draft={budget} onChange={(next) => onChange({ budget: next })} />
      <TextInput
        label={`${t('balance_low')} (${currency})`}
        description={t('balance_low_hint')}
        inputMode="decimal"
        value={threshold}
        error={wrong('amount', threshold)}
        onChange={(event) => onChange({ threshold: event.currentTarget.value })}
      />
    </Stack>
  )
}

export function PeopleStep({ draft, onChange }: StepProps) {
  const t = useMessages(messages)
  const known = draft.profile.email.trim()
  const wrong = wrongEmails(draft)
  return (
    <TagsInput
      label={t('invited')}
      description={t('invited_hint')}
      placeholder="ada@customer.example"
      data-autofocus
      acceptValueOnBlur
      error={wrong.length > 0 && t('no_address', { what: wrong.join(', ') })}
      data={known === '' ? [] : [known]}
      value={draft.emails}
      onChange={(next) => onChange({ emails: next })}
    />
  )
}

export function TokenStep({ draft: { token, models }, onChange }: StepProps) {
  const t = useMessages(messages)
  return (
    <Stack>
      <TextInput
        label={t('first_token')}
        description={t('first_token_hint')}
        placeholder="website"
        autoComplete="off"
        value={token}
        onChange={(event) => onChange({ token: event.currentTarget.value })}
      />
      <ModelNames
        label={t('models')}
        description={t('models_hint')}
        value={models}
        onChange={(next) => onChange({ models: next })}
      />
    </Stack>
  )
}

/** What is made, with what is shown once; what is left is said. */
export function Outcome({ draft, made }: { draft: Draft; made: Made }) {
  const t = useMessages(messages)
  const left = draft.emails.slice(made.links.length)
  const hasToken = draft.token.trim() !== ''
  return (
    <Stack>
      <State state="good" label={t('account_made', { name: made.account ?? '' })} />
      {made.links.map(({ url, email, mailed, mail_problem }) => (
        <div key={url} className={privateClass}>
          <Text size="sm">{t(mailed ? 'link_sent' : 'link_to_send', { email: email ?? '' })}</Text>
          {mail_problem !== null && (
            <Text size="xs" c="dimmed">
              {mail_problem}
            </Text>
          )}
          {!mailed && <CopyBlock text={url} label={t('link_of', { email: email ?? '' })} />}
        </div>
      ))}
      {made.secret !== undefined && (
        <>
          <Alert color="yellow">{t('secret_once')}</Alert>
          <div className={privateClass}>
            <CopyBlock text={made.secret} label={t('secret_once')} />
          </div>
          <SectionTitle>{t('connect')}</SectionTitle>
          <div className={privateClass}>
            <ConnectTabs secret={made.secret} models={draft.models} />
          </div>
        </>
      )}
      {(left.length > 0 || (hasToken && made.secret === undefined)) && (
        <Alert color="yellow" role="status">
          {t('not_yet', {
            what: [...left, ...(hasToken && made.secret === undefined ? [draft.token] : [])].join(
              ', ',
            ),
          })}
        </Alert>
      )}
    </Stack>
  )
}

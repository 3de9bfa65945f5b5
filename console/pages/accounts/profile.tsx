// Who an account is: the names and addresses that people and bills use. Operators edit them; a field that is
// emptied is taken away.
import { Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import {
  declaredProfile,
  type ProfileField,
  profileNames,
  profileOf,
} from '../../../src/contract/config-schema/profile-fields.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { PropertyList } from '../../components/drawer.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { profileMessages as messages } from './profile-messages.ts'

type Draft = Readonly<Record<ProfileField, string>>

export function AccountProfile({
  account,
  onChanged,
}: {
  account: Account
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const mayEdit = hasRole(useSession(), ['operator', 'finance'])
  if (mayEdit) {
    const key = JSON.stringify([account.name, draftOf(account)])
    return <ProfileForm key={key} account={account} onChanged={onChanged} />
  }
  const rows = profileNames.map(
    (name) =>
      [
        t(name),
        <Text key={name} size="sm" className={`${privateClass} lines`}>
          {account[name] ?? '–'}
        </Text>,
      ] as const,
  )
  return <PropertyList rows={rows} />
}

const draftOf = (account: Account): Draft => profileOf((name) => account[name] ?? '')

function ProfileForm({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const t = useMessages(messages)
  const before = draftOf(account)
  const [draft, setDraft] = useState(before)
  const submit = async () => {
    const changed = profileNames.filter((name) => draft[name].trim() !== before[name])
    const set = (values: Draft) => {
      const body = Object.fromEntries(changed.map((name) => [name, values[name].trim() || null]))
      return api('PATCH', `/accounts/${encodeURIComponent(account.name)}`, { body })
    }
    await set(draft)
    offerUndo(t('profile_saved'), () => set(before))
    onChanged()
  }
  return (
    <ActionForm submit={t('save_profile')} onSubmit={submit}>
      <Text size="sm" c="dimmed">
        {t('profile_hint')}
      </Text>
      {profileNames.map((name) => {
        const { max, kind = 'text' } = declaredProfile(name)
        const common = {
          label: t(name),
          maxLength: max,
          value: draft[name],
          classNames: { input: privateClass },
          onChange: (event: { currentTarget: { value: string } }) => {
            setDraft({ ...draft, [name]: event.currentTarget.value })
          },
          ...(name === 'display_name' && { description: t('display_name_hint') }),
        }
        return kind === 'lines' ? (
          <Textarea key={name} {...common} autosize minRows={2} maxRows={8} />
        ) : (
          <TextInput key={name} {...common} type={kind} />
        )
      })}
    </ActionForm>
  )
}

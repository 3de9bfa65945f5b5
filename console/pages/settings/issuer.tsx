// Who sends the bills: what the gateway has, and for finance a form where no file declares it.
import { Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert, Panel } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

const fields = ['name', 'address', 'tax_id', 'email'] as const
type Named = Partial<Record<(typeof fields)[number], string>>

interface Answer {
  issuer: Named | null
  source: 'file' | 'api' | null
}

const path = '/issuer'

export function Issuer() {
  const t = useMessages(messages)
  const mayEdit = hasRole(useSession(), ['finance'])
  const { data, error, refetch } = useResource<Answer>(path, { refetchOnWindowFocus: false })
  return (
    <Panel title={t('issuer')}>
      <Text size="sm" mb="xs">
        {t(data?.source === 'file' ? 'issuer_file' : 'issuer_hint')}
      </Text>
      <ErrorAlert error={error} />
      {data !== undefined &&
        (mayEdit && data.source !== 'file' ? (
          <IssuerForm
            key={JSON.stringify(data.issuer)}
            issuer={data.issuer ?? {}}
            onSaved={() => void refetch()}
          />
        ) : (
          <PropertyList
            rows={fields.map((name) => [
              t(`issuer_${name}`),
              <span key={name} className="lines">
                {data.issuer?.[name] ?? '–'}
              </span>,
            ])}
          />
        ))}
    </Panel>
  )
}

function IssuerForm({ issuer, onSaved }: { issuer: Named; onSaved: () => void }) {
  const t = useMessages(messages)
  const [draft, setDraft] = useState(issuer)
  const submit = async () => {
    const put = (named: Named) => {
      const said = fields.map((name) => [name, named[name]?.trim() ?? ''] as const)
      const body = Object.fromEntries(said.filter(([, value]) => value !== ''))
      return api('PUT', path, { body })
    }
    await put(draft)
    // There is no way back to none.
    offerUndo(t('issuer_saved'), issuer.name === undefined ? undefined : () => put(issuer))
    onSaved()
  }
  const field = (name: keyof Named, maxLength: number) => ({
    label: t(`issuer_${name}`),
    maxLength,
    value: draft[name] ?? '',
    onChange: (event: { currentTarget: { value: string } }) => {
      setDraft({ ...draft, [name]: event.currentTarget.value })
    },
  })
  return (
    <ActionForm submit={t('issuer_save')} onSubmit={submit}>
      <TextInput {...field('name', 200)} required />
      <Textarea {...field('address', 500)} autosize minRows={2} maxRows={8} />
      <TextInput {...field('tax_id', 64)} />
      <TextInput {...field('email', 254)} type="email" />
    </ActionForm>
  )
}

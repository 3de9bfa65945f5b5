// Forms of the people page: add, invite, change the role, create a password link, remove.
import {
  Alert,
  Button,
  Group,
  Modal,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { InvitationLink } from '../../../src/admin/invitations/invitation-schema.ts'
import type { Person } from '../../../src/admin/people/person-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { Final } from '../../components/confirm.tsx'
import { CopyBlock } from '../../components/copy.tsx'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import type { Role } from '../../lib/session.ts'
import { messages } from './messages.ts'

const roles: readonly Role[] = ['administrator', 'operator', 'finance', 'member']

interface Rights {
  role: Role
  account: string | null
}

/** The role, and the account of a member. */
const rightsBody = ({ role, account }: Rights) => ({
  role,
  ...(role === 'member' && { account: account ?? '' }),
})

function RightsFields({ value, onChange }: { value: Rights; onChange: (to: Rights) => void }) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <>
      <Select
        label={t('role')}
        data={roles.map((each) => ({ value: each, label: server.text('role', each) }))}
        value={value.role}
        allowDeselect={false}
        onChange={(role) => onChange({ ...value, role: (role ?? 'operator') as Role })}
      />
      {value.role === 'member' && (
        <AccountSelect
          isRequired
          value={value.account}
          onChange={(account) => onChange({ ...value, account: account ?? null })}
        />
      )}
    </>
  )
}

interface FormProps {
  onClose: () => void
  /** The list has changed. */
  onDone: () => void
}

export function AddPerson({ onClose, onDone }: FormProps) {
  const t = useMessages(messages)
  const wrong = useFieldError()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [rights, setRights] = useState<Rights>({ role: 'operator', account: null })
  const submit = async () => {
    await api('POST', '/people', { body: { name, password, ...rightsBody(rights) } })
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('create')} onSubmit={submit} onCancel={onClose}>
      <TextInput
        label={t('name')}
        autoComplete="off"
        data-autofocus
        required
        value={name}
        error={wrong('person', name)}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <RightsFields value={rights} onChange={setRights} />
      <PasswordInput
        label={t('initial_password')}
        autoComplete="new-password"
        required
        value={password}
        error={wrong('password', password)}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
    </ActionForm>
  )
}

/** `account`: a member of this one; `address`: what the field has first. */
export function Invite({
  account,
  address = '',
  onClose,
  onDone,
}: FormProps & { account?: string; address?: string }) {
  const t = useMessages(messages)
  const [email, setEmail] = useState(address)
  const [rights, setRights] = useState<Rights>(
    account === undefined ? { role: 'operator', account: null } : { role: 'member', account },
  )
  const [link, setLink] = useState<InvitationLink>()
  const submit = async () => {
    const body = { ...rightsBody(rights), ...(email !== '' && { email }) }
    setLink(await api<InvitationLink>('POST', '/invitations', { body }))
    onDone()
  }
  if (link !== undefined) return <OneTimeLink link={link} onClose={onClose} />
  return (
    <ActionForm submit={t('create_link')} onSubmit={submit} onCancel={onClose}>
      {account === undefined && <RightsFields value={rights} onChange={setRights} />}
      <TextInput
        label={t('email')}
        description={t('email_hint')}
        type="email"
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
    </ActionForm>
  )
}

const ways = ['by_link', 'by_password'] as const

/** By a link with which the person sets it, or to one that the administrator hands over. */
export function ResetPassword({ person, onClose, onDone }: FormProps & { person: Person }) {
  const t = useMessages(messages)
  const [way, setWay] = useState<(typeof ways)[number]>('by_link')
  const [password, setPassword] = useState('')
  const [link, setLink] = useState<InvitationLink>()
  const submit = async () => {
    if (way === 'by_link') {
      setLink(await api<InvitationLink>('POST', `/people/${person.id}/password-link`))
    } else {
      await api('PATCH', `/people/${person.id}`, { body: { password } })
      onClose()
    }
    onDone()
  }
  if (link !== undefined) return <OneTimeLink link={link} onClose={onClose} />
  return (
    <ActionForm
      submit={t(way === 'by_link' ? 'create_link' : 'set_password')}
      onSubmit={submit}
      onCancel={onClose}
    >
      <SegmentedControl
        aria-label={t('reset_password')}
        data={ways.map((value) => ({ value, label: t(value) }))}
        value={way}
        onChange={(value) => setWay(value as typeof way)}
      />
      <Text size="sm">
        {t(way === 'by_link' ? 'reset_password_text' : 'set_password_text', { name: person.name })}
      </Text>
      {way === 'by_password' && (
        <PasswordInput
          label={t('initial_password')}
          description={t('password_hint')}
          autoComplete="new-password"
          required
          minLength={12}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      )}
    </ActionForm>
  )
}

function OneTimeLink({ link, onClose }: { link: InvitationLink; onClose: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <Stack>
      <Text size="sm">{t('link_text', { time: format.time(link.expires_at) })}</Text>
      {link.mailed && (
        <Alert color="teal" role="status">
          {t('link_mailed', { email: link.email ?? '' })}
        </Alert>
      )}
      {link.mail_problem !== null && (
        <Alert color="yellow" role="status">
          {t('link_not_mailed', { why: link.mail_problem })}
        </Alert>
      )}
      <div className={privateClass}>
        <CopyBlock text={link.url} label={t('link')} />
      </div>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('done')}</Button>
      </Group>
    </Stack>
  )
}

export function ChangeRole({ person, onClose, onDone }: FormProps & { person: Person }) {
  const t = useMessages(messages)
  const { role, account } = person
  const [rights, setRights] = useState<Rights>({ role, account })
  const submit = async () => {
    const set = (to: Rights) => api('PATCH', `/people/${person.id}`, { body: rightsBody(to) })
    await set(rights)
    offerUndo(t('saved_as', { name: person.name }), () => set({ role, account }))
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('change_role')} onSubmit={submit} onCancel={onClose}>
      <Text size="sm">{t('change_role_text', { name: person.name })}</Text>
      <RightsFields value={rights} onChange={setRights} />
    </ActionForm>
  )
}

export function RemovePerson({ person, onClose, onDone }: FormProps & { person: Person }) {
  const t = useMessages(messages)
  const submit = async () => {
    await api('DELETE', `/people/${person.id}`)
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('remove')} onSubmit={submit} onCancel={onClose}>
      <Text size="sm">{t('remove_text', { name: person.name })}</Text>
      <Final />
    </ActionForm>
  )
}

/** A link that is shown once does not disappear by a key or a click beside it. */
export function FormModal({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false} closeOnEscape={false}>
      {children}
    </Modal>
  )
}

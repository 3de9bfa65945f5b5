// The people who can sign in, their roles, and the links that invite more. Administrators only.

import { ActionIcon, Button, Menu } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Invitation } from '../../../src/admin/invitations/invitation-schema.ts'
import type { Person } from '../../../src/admin/people/person-schema.ts'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useFlag } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { AddPerson, ChangeRole, FormModal, Invite, RemovePerson, ResetPassword } from './forms.tsx'
import { Invitations } from './invitations.tsx'
import { messages } from './messages.ts'

const personForms = {
  change_role: ChangeRole,
  reset_password: ResetPassword,
  remove_title: RemovePerson,
} as const
type PersonForm = keyof typeof personForms

type Open = 'add' | 'invite' | { form: PersonForm; person: Person }

export default function People() {
  const t = useMessages(messages)
  const list = useList<Person>('/people')
  const invitations = useList<Invitation>('/invitations')
  const [chosen, setOpen] = useState<Exclude<Open, 'invite'>>()
  const [isInviting, setInviting] = useFlag('invite')
  const open: Open | undefined = isInviting ? 'invite' : chosen
  const { error, run } = useAction()
  const onDone = () => {
    list.refetch()
    invitations.refetch()
  }
  const toggle = ({ id, name, disabled: before }: Person) =>
    run(async () => {
      const set = (disabled: boolean) => api('PATCH', `/people/${id}`, { body: { disabled } })
      await set(!before)
      offerUndo(t(before ? 'enabled_as' : 'disabled_as', { name }), () => set(before))
      onDone()
    })
  const columns = usePersonColumns((person) => (
    <PersonMenu
      person={person}
      isLast={isLastAdministrator(person, list.rows)}
      onForm={(form) => setOpen({ form, person })}
      onToggle={() => toggle(person)}
    />
  ))
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <Button variant="default" onClick={() => setOpen('add')}>
            {t('add')}
          </Button>
          <Button onClick={() => setInviting(true)}>{t('invite')}</Button>
        </>
      }
    >
      <ErrorAlert error={error} />
      <Invitations rows={invitations.rows} onDone={onDone} />
      <ListTable label={t('title')} list={list} columns={columns} rowKey={({ id }) => id} isFlat />
      {open !== undefined && (
        <OpenForm
          open={open}
          onClose={() => {
            setOpen(undefined)
            setInviting(false)
          }}
          onDone={onDone}
        />
      )}
    </Page>
  )
}

const isAdministrator = ({ role, disabled }: Person) => role === 'administrator' && !disabled

/** People could not be managed without them; the gateway refuses it too. */
const isLastAdministrator = (person: Person, all: readonly Person[]): boolean =>
  isAdministrator(person) && all.filter(isAdministrator).length === 1

function usePersonColumns(menu: (person: Person) => ReactNode): Column<Person>[] {
  const t = useMessages(messages)
  const server = useServerText()
  const displayName = useDisplayNames()
  return [
    { title: t('name'), isPrivate: true, sort: ({ name }) => name, cell: ({ name }) => name },
    {
      title: t('role'),
      sort: ({ role }) => server.text('role', role),
      cell: ({ role }) => server.text('role', role),
    },
    {
      title: t('account'),
      width: '220px',
      sort: ({ account }) => account,
      cell: ({ account }) =>
        account === null ? '–' : <AccountName name={account} displayName={displayName(account)} />,
    },
    {
      title: t('state'),
      cell: ({ disabled }) => (
        <State
          state={disabled ? 'cancelled' : 'good'}
          label={t(disabled ? 'disabled' : 'active')}
        />
      ),
    },
    { title: t('sign_in'), cell: ({ sign_in }) => t(sign_in) },
    { title: t('created'), cell: ({ created_at }) => <Time at={created_at} how="ago" /> },
    { title: '', width: '60px', align: 'right', cell: menu },
  ]
}

function OpenForm({ open, ...props }: { open: Open; onClose: () => void; onDone: () => void }) {
  const t = useMessages(messages)
  if (typeof open === 'string') {
    const Form = open === 'add' ? AddPerson : Invite
    return (
      <FormModal title={t(open)} onClose={props.onClose}>
        <Form {...props} />
      </FormModal>
    )
  }
  const Form = personForms[open.form]
  return (
    <FormModal title={t(open.form)} onClose={props.onClose}>
      <Form person={open.person} {...props} />
    </FormModal>
  )
}

function PersonMenu({
  person,
  isLast,
  onForm,
  onToggle,
}: {
  person: Person
  isLast: boolean
  onForm: (form: PersonForm) => void
  onToggle: () => void
}) {
  const t = useMessages(messages)
  return (
    <Menu withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('actions', { name: person.name })}>
          <Icon name="more" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isLast && (
          <Menu.Label>
            {t('last_administrator')}
            <br />
            {t('last_administrator_hint')}
          </Menu.Label>
        )}
        {person.sign_in === 'oidc' ? (
          <Menu.Label>{t('by_groups')}</Menu.Label>
        ) : (
          <>
            <Menu.Item disabled={isLast} onClick={() => onForm('change_role')}>
              {t('change_role')}
            </Menu.Item>
            <Menu.Item disabled={person.disabled} onClick={() => onForm('reset_password')}>
              {t('reset_password')}
            </Menu.Item>
          </>
        )}
        <Menu.Item disabled={isLast} onClick={onToggle}>
          {t(person.disabled ? 'enable' : 'disable')}
        </Menu.Item>
        <Menu.Item
          c="var(--mantine-color-red-light-color)"
          disabled={isLast}
          onClick={() => onForm('remove_title')}
        >
          {t('remove')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

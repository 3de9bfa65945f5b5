// The people who can sign in, and their roles. Administrators only.

import { Button, Modal, PasswordInput, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Person } from '../../../src/admin/people/person-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import type { Role } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

const messages = defineMessages({
  title: ['People', '用户'],
  hint: [
    'People who can sign in to this console, and their roles.',
    '可登录控制台的用户及其角色。',
  ],
  add: ['Add person', '新增用户'],
  name: ['Name', '用户名'],
  role: ['Role', '角色'],
  password: ['Initial password', '初始密码'],
  created: ['Created', '创建时间'],
  active: ['Active', '可用'],
  disabled: ['Disabled', '已停用'],
  enable: ['Enable', '启用'],
  disable: ['Disable', '停用'],
})

const roles: readonly Role[] = ['administrator', 'operator', 'finance', 'member']

export default function People() {
  const t = useMessages(messages)
  const server = useServerText()
  const list = useList<Person>('/people')
  const [isAdding, setAdding] = useState(false)
  const { error, run } = useAction()
  const toggle = ({ id, disabled }: Person) =>
    run(async () => {
      await api('PATCH', `/people/${id}`, { body: { disabled: !disabled } })
      list.refetch()
    })
  const columns: Column<Person>[] = [
    { title: t('name'), isPrivate: true, cell: ({ name }) => name },
    { title: t('role'), cell: ({ role }) => server.text('role', role) },
    { title: t('account'), cell: ({ account }) => account ?? '–' },
    {
      title: t('state'),
      cell: ({ disabled }) => (
        <State
          state={disabled ? 'cancelled' : 'good'}
          label={t(disabled ? 'disabled' : 'active')}
        />
      ),
    },
    { title: t('created'), cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: '',
      align: 'right',
      cell: (person) => (
        <Button variant="subtle" size="compact-sm" onClick={() => toggle(person)}>
          {t(person.disabled ? 'enable' : 'disable')}
        </Button>
      ),
    },
  ]
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={<Button onClick={() => setAdding(true)}>{t('add')}</Button>}
    >
      <ErrorAlert error={error} />
      <ListTable label={t('title')} list={list} columns={columns} rowKey={({ id }) => id} isFlat />
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={t('add')}>
        <PersonForm
          onDone={() => {
            setAdding(false)
            list.refetch()
          }}
        />
      </Modal>
    </Page>
  )
}

function PersonForm({ onDone }: { onDone: () => void }) {
  const t = useMessages(messages)
  const server = useServerText()
  const [given, setGiven] = useState({ name: '', password: '', account: '' })
  const [role, setRole] = useState<Role>('operator')
  const submit = async () => {
    const { account, ...rest } = given
    const body = { ...rest, role, ...(role === 'member' && { account }) }
    await api('POST', '/people', { body })
    onDone()
  }
  const field = (name: 'name' | 'password' | 'account') => ({
    required: true,
    value: given[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setGiven({ ...given, [name]: event.currentTarget.value }),
  })
  return (
    <ActionForm submit={t('create')} onSubmit={submit}>
      <TextInput label={t('name')} autoComplete="off" data-autofocus {...field('name')} />
      <Select
        label={t('role')}
        data={roles.map((each) => ({ value: each, label: server.text('role', each) }))}
        value={role}
        allowDeselect={false}
        onChange={(value) => setRole((value ?? 'operator') as Role)}
      />
      {role === 'member' && <TextInput label={t('account')} {...field('account')} />}
      <PasswordInput label={t('password')} autoComplete="new-password" {...field('password')} />
    </ActionForm>
  )
}

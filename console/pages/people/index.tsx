// Who may sign in, as what. Administrators only.
import { Button, Modal, PasswordInput, Select, Stack, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import type { Role } from '../../lib/session.ts'
import { defineWords, useWords } from '../../lib/words.ts'
import type { Column } from '../../parts/data-table.tsx'
import { FormEnd } from '../../parts/form-end.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { ErrorNote, Page } from '../../parts/page.tsx'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'

const words = defineWords({
  en: {
    title: 'People',
    hint: 'Who may sign in to this console, and what each may do.',
    add: 'New person',
    name: 'Name',
    role: 'Role',
    password: 'First password',
    created: 'Since',
    active: 'Active',
    disabled: 'Disabled',
    enable: 'Enable',
    disable: 'Disable',
    administrator: 'Administrator',
    operator: 'Operator',
    finance: 'Finance',
    member: 'Member of an account',
  },
  zh: {
    title: '人员',
    hint: '谁可以登录控制台，以及各自的权限。',
    add: '新增人员',
    name: '用户名',
    role: '角色',
    password: '初始密码',
    created: '创建时间',
    active: '可用',
    disabled: '已停用',
    enable: '启用',
    disable: '停用',
    administrator: '管理员',
    operator: '运维',
    finance: '财务',
    member: '账户成员',
  },
})

interface Person {
  id: string
  name: string
  role: Role
  account: string | null
  disabled: boolean
  created_at: string
}

const roles: readonly Role[] = ['administrator', 'operator', 'finance', 'member']

export default function People() {
  const say = useWords(words)
  const shared = useWords(common)
  const list = useList<Person>('/people')
  const [isAdding, setAdding] = useState(false)
  const { error, run } = useAction()
  const toggle = ({ id, disabled }: Person) =>
    run(async () => {
      await ask('PATCH', `/people/${id}`, { body: { disabled: !disabled } })
      list.again()
    })
  const columns: Column<Person>[] = [
    { title: say('name'), isPrivate: true, cell: ({ name }) => name },
    { title: say('role'), cell: ({ role }) => say(role) },
    { title: shared('account'), cell: ({ account }) => account ?? '–' },
    {
      title: shared('state'),
      cell: ({ disabled }) => (
        <State
          state={disabled ? 'cancelled' : 'good'}
          label={say(disabled ? 'disabled' : 'active')}
        />
      ),
    },
    { title: say('created'), cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: '',
      align: 'right',
      cell: (person) => (
        <Button variant="subtle" size="compact-sm" onClick={() => toggle(person)}>
          {say(person.disabled ? 'enable' : 'disable')}
        </Button>
      ),
    },
  ]
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={<Button onClick={() => setAdding(true)}>{say('add')}</Button>}
    >
      <ErrorNote error={error} />
      <ListTable label={say('title')} list={list} columns={columns} keyOf={({ id }) => id} isFlat />
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={say('add')}>
        <PersonForm
          onDone={() => {
            setAdding(false)
            list.again()
          }}
        />
      </Modal>
    </Page>
  )
}

function PersonForm({ onDone }: { onDone: () => void }) {
  const say = useWords(words)
  const shared = useWords(common)
  const [given, setGiven] = useState({ name: '', password: '', account: '' })
  const [role, setRole] = useState<Role>('operator')
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const { account, ...rest } = given
    const body = { ...rest, role, ...(role === 'member' && { account }) }
    void run(async () => {
      await ask('POST', '/people', { body })
      onDone()
    })
  }
  const field = (name: 'name' | 'password' | 'account') => ({
    required: true,
    value: given[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setGiven({ ...given, [name]: event.currentTarget.value }),
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput label={say('name')} autoComplete="off" data-autofocus {...field('name')} />
        <Select
          label={say('role')}
          data={roles.map((each) => ({ value: each, label: say(each) }))}
          value={role}
          allowDeselect={false}
          onChange={(value) => setRole((value ?? 'operator') as Role)}
        />
        {role === 'member' && <TextInput label={shared('account')} {...field('account')} />}
        <PasswordInput label={say('password')} autoComplete="new-password" {...field('password')} />
        <FormEnd error={error} isBusy={isBusy} submit={shared('create')} />
      </Stack>
    </form>
  )
}

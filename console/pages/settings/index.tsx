// What the gateway runs with: the settings in force, what the file declares, and one's own password.
import { Button, PasswordInput, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { defineWords, useWords } from '../../lib/words.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/sheet.tsx'
import { common } from '../../parts/words.ts'

const words = defineWords({
  en: {
    title: 'Settings',
    hint: 'Most settings come from the environment and gateway.yaml, and are changed there.',
    general: 'General',
    public_url: 'Public address',
    region: 'Region',
    currency: 'Currency',
    media: 'Results kept',
    callbacks: 'Callbacks signed with',
    file: 'What gateway.yaml declares',
    file_hint: 'Without its secrets. Edit the file and send the gateway SIGHUP.',
    backup: 'Backup',
    backup_hint: 'Everything in the database as it is now. The master key is not in it.',
    take_backup: 'Take a backup',
    password: 'Your password',
    old: 'Old password',
    new: 'New password',
    change: 'Change it',
    changed: 'Changed. Your other sessions have ended.',
  },
  zh: {
    title: '设置',
    hint: '大多数设置来自环境变量与 gateway.yaml，请在那里修改。',
    general: '常规',
    public_url: '对外地址',
    region: '地域',
    currency: '货币',
    media: '保存结果文件',
    callbacks: '回调签名密钥',
    file: 'gateway.yaml 的声明',
    file_hint: '已隐去密钥。修改文件后向网关发送 SIGHUP。',
    backup: '备份',
    backup_hint: '数据库当前的全部内容，不含主密钥。',
    take_backup: '下载备份',
    password: '我的密码',
    old: '旧密码',
    new: '新密码',
    change: '修改',
    changed: '已修改，其他会话已退出。',
  },
})

interface Settings {
  public_url: string
  region: string
  currency: string
  media: boolean
  callbacks: string
  file: object
}

export default function SettingsPage() {
  const say = useWords(words)
  const { role } = useSession()
  return (
    <Page title={say('title')} hint={say('hint')}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {role === 'administrator' && <General />}
        <Password />
        {role === 'administrator' && <Backup />}
      </SimpleGrid>
    </Page>
  )
}

function General() {
  const say = useWords(words)
  const shared = useWords(common)
  const { data, error } = useQuery({
    queryKey: ['settings'],
    queryFn: () => ask<Settings>('GET', '/settings'),
  })
  if (data === undefined) return <ErrorNote error={error} />
  return (
    <Panel title={say('general')}>
      <Stack>
        <Facts
          rows={[
            [say('public_url'), data.public_url],
            [say('region'), data.region],
            [say('currency'), data.currency],
            [say('media'), shared(data.media ? 'yes' : 'no')],
            [say('callbacks'), data.callbacks],
          ]}
        />
        <Title order={3} size="h6">
          {say('file')}
        </Title>
        <Text size="xs" c="dimmed">
          {say('file_hint')}
        </Text>
        <CopyBlock text={JSON.stringify(data.file, null, 2)} label={say('file')} />
      </Stack>
    </Panel>
  )
}

function Backup() {
  const say = useWords(words)
  return (
    <Panel title={say('backup')}>
      <Stack>
        <Text size="sm">{say('backup_hint')}</Text>
        <Button component="a" href="/admin/v1/backup" download variant="default">
          {say('take_backup')}
        </Button>
      </Stack>
    </Panel>
  )
}

function Password() {
  const say = useWords(words)
  const [given, setGiven] = useState({ old: '', password: '' })
  const { error, run } = useAction()
  const [isDone, setDone] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setDone(false)
    const done = await run(() => ask('POST', '/session/password', { body: given }))
    if (done) setGiven({ old: '', password: '' })
    setDone(done)
  }
  return (
    <Panel title={say('password')}>
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            label={say('old')}
            autoComplete="current-password"
            required
            value={given.old}
            onChange={(event) => setGiven({ ...given, old: event.currentTarget.value })}
          />
          <PasswordInput
            label={say('new')}
            autoComplete="new-password"
            required
            value={given.password}
            onChange={(event) => setGiven({ ...given, password: event.currentTarget.value })}
          />
          <ErrorNote error={error} />
          {isDone && <Text c="teal">{say('changed')}</Text>}
          <Button type="submit">{say('change')}</Button>
        </Stack>
      </form>
    </Panel>
  )
}

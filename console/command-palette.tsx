// The command palette (⌘K): pages by name, objects by ID; and the list of keyboard shortcuts.
import { Kbd, Modal, Stack, Table, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { defineMessages } from './lib/i18n.ts'
import { useMessages } from './lib/messages.ts'
import { navigate } from './lib/router.tsx'
import { hasRole, useSession } from './lib/session.ts'
import { pages, pageTitles } from './navigation.ts'

const messages = defineMessages({
  open_task: ['Open task {id}', '打开任务 {id}'],
  open_request: ['Open request {id}', '打开请求 {id}'],
  open_token: ['Open token {id}', '打开令牌 {id}'],
  open_channel: ['Open channel {id}', '打开渠道 {id}'],
  keys: ['Keyboard shortcuts', '快捷键'],
  palette: ['Search', '搜索'],
  help: ['Show keyboard shortcuts', '显示快捷键'],
  next: ['Next / previous row', '下一行 / 上一行'],
  close_panel: ['Close panel or dialog', '关闭面板或对话框'],
  go: ['Go to {page}', '前往{page}'],
})

interface Hit {
  title: string
  to: string
}

const isTask = /^(?:video|image)_/
/** IDs whose prefix names their kind. */
const ownPage = [
  { begins: 'tok_', title: 'open_token', path: '/tokens' },
  { begins: 'chn_', title: 'open_channel', path: '/channels' },
] as const
const looksLikeId = /^[\w.:-]{8,}$/

function useHits(text: string): Hit[] {
  const session = useSession()
  const t = useMessages(messages)
  const name = useMessages(pageTitles)
  const wanted = text.trim()
  const hits: Hit[] = pages
    .filter((page) => hasRole(session, page.roles))
    .map((page) => ({ title: name(page.name), to: page.path }))
    .filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()))
  if (!looksLikeId.test(wanted)) return hits
  const id = encodeURIComponent(wanted)
  const task = { title: t('open_task', { id: wanted }), to: `/tasks?open=${id}` }
  const request = { title: t('open_request', { id: wanted }), to: `/requests?open=${id}` }
  const own = ownPage.find(({ begins }) => wanted.startsWith(begins))
  if (own !== undefined) {
    return [{ title: t(own.title, { id: wanted }), to: `${own.path}?open=${id}` }, ...hits]
  }
  return [...(isTask.test(wanted) ? [task, request] : [request, task]), ...hits]
}

export function CommandPalette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const t = useMessages()
  const hits = useHits(text)
  const pick = (hit: Hit | undefined) => {
    if (hit === undefined) return
    setText('')
    setAt(0)
    onClose()
    navigate(hit.to)
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('search')} size="lg">
      <TextInput
        data-autofocus
        placeholder={t('search')}
        aria-label={t('search')}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(at + 1, hits.length - 1))
          if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0))
          if (event.key === 'Enter') pick(hits[at])
        }}
      />
      <Stack gap={2} mt="sm" role="listbox" aria-label={t('search')}>
        {hits.map((hit, i) => (
          <UnstyledButton
            key={hit.to}
            className="nav-link"
            role="option"
            aria-selected={i === at}
            aria-current={i === at ? 'page' : undefined}
            onClick={() => pick(hit)}
          >
            {hit.title}
          </UnstyledButton>
        ))}
      </Stack>
    </Modal>
  )
}

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const session = useSession()
  const t = useMessages(messages)
  const name = useMessages(pageTitles)
  const rows: [string, string][] = [
    ['⌘K  /', t('palette')],
    ['?', t('help')],
    ['j  k', t('next')],
    ['Esc', t('close_panel')],
    ...pages
      .filter((page) => hasRole(session, page.roles))
      .map((page): [string, string] => [`g ${page.key}`, t('go', { page: name(page.name) })]),
  ]
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('keys')}>
      <Table>
        <Table.Tbody>
          {rows.map(([key, what]) => (
            <Table.Tr key={key}>
              <Table.Td>
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

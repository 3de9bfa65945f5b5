// The command palette: pages by name, objects by ID, what the gateway finds by a part of its name, and actions; and
// the list of keyboard shortcuts.
import { Kbd, Modal, Stack, Table, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import type { SearchHit } from '../src/admin/system/search-schema.ts'
import type { Page } from './lib/api.ts'
import { defineMessages } from './lib/i18n.ts'
import { useMessages } from './lib/messages.ts'
import { privateClass } from './lib/privacy.ts'
import { navigate } from './lib/router.tsx'
import { hasRole, useSession } from './lib/session.ts'
import { searchKeys } from './lib/shortcuts.ts'
import { useResource } from './lib/use-resource.ts'
import { type PageName, pages, pageTitles } from './navigation.ts'
import { type Action, useActions, useActionsOn, usePriceActions } from './palette-actions.ts'

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
  person: ['Person', '用户'],
  nothing: ['Nothing found', '没有找到'],
})

interface Hit {
  title: string
  act: Action['act']
  /** What it is, and of whom. */
  note?: string
  /** Not for onlookers. */
  isPrivate?: boolean
}

const isTask = /^(?:video|image)_/
const isOwnId = /^(?:req|task|video|image|tok|chn)_/
/** IDs whose prefix names their kind. */
const ownPage = [
  { begins: 'tok_', title: 'open_token', path: '/tokens' },
  { begins: 'chn_', title: 'open_channel', path: '/channels' },
] as const
const looksLikeId = /^[\w.:-]{8,}$/

/** Where what was found is shown; only for those who may open that page. */
const shownAt: Readonly<
  Record<SearchHit['kind'], [page: PageName, to: (hit: SearchHit) => string]>
> = {
  account: ['accounts', ({ name }) => `/accounts?open=${encodeURIComponent(name)}`],
  token: ['tokens', ({ id }) => `/tokens?open=${encodeURIComponent(id)}`],
  person: ['people', () => '/people'],
  model: ['models', ({ name }) => `/models?open=${encodeURIComponent(name)}`],
  channel: ['channels', ({ id }) => `/channels?open=${encodeURIComponent(id)}`],
}

const minSearch = 2
const typingMs = 150
/** Of models that were found: so many have their price among the actions. */
const maxPriced = 3

/** What the gateway finds, when typing has paused. */
function useFound(text: string): Hit[] {
  const session = useSession()
  const t = useMessages(messages)
  const pricing = usePriceActions()
  const [wanted] = useDebouncedValue(text, typingMs)
  const { data } = useResource<Page<SearchHit>>('/search', {
    query: { q: wanted },
    enabled: wanted.length >= minSearch,
    placeholderData: keepPreviousData,
  })
  if (text.length < minSearch) return []
  const mayOpen = (name: PageName) =>
    pages.some((page) => page.name === name && hasRole(session, page.roles))
  const found = data?.items.filter(({ kind }) => mayOpen(shownAt[kind][0])) ?? []
  const hits = found.map((hit) => ({
    title: hit.name,
    act: shownAt[hit.kind][1](hit),
    note: [t(hit.kind), hit.display_name ?? hit.account].filter((part) => part).join(' · '),
    isPrivate: true,
  }))
  const models = found.filter(({ kind }) => kind === 'model').slice(0, maxPriced)
  return [...hits, ...models.flatMap(({ name }) => pricing(name))]
}

/** Names may look like IDs too, so only an ID of the gateway's own comes before what was found. */
function useHits(text: string): Hit[] {
  const wanted = text.trim()
  const [named, found, ids] = [usePages(wanted), useFound(wanted), useIds(wanted)]
  const [actions, ofId] = [useActions(wanted), useActionsOn(wanted)]
  return isOwnId.test(wanted)
    ? [...ids, ...ofId, ...named, ...found]
    : [...named, ...actions, ...found, ...ids]
}

function usePages(wanted: string): Hit[] {
  const session = useSession()
  const name = useMessages(pageTitles)
  return pages
    .filter((page) => hasRole(session, page.roles))
    .map((page) => ({ title: name(page.name), act: page.path }))
    .filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()))
}

function useIds(wanted: string): Hit[] {
  const t = useMessages(messages)
  if (!looksLikeId.test(wanted)) return []
  const id = encodeURIComponent(wanted)
  const own = ownPage.find(({ begins }) => wanted.startsWith(begins))
  if (own !== undefined) {
    return [{ title: t(own.title, { id: wanted }), act: `${own.path}?open=${id}` }]
  }
  const task = { title: t('open_task', { id: wanted }), act: `/tasks?open=${id}` }
  const request = { title: t('open_request', { id: wanted }), act: `/requests?open=${id}` }
  return isTask.test(wanted) ? [task, request] : [request, task]
}

export function CommandPalette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const t = useMessages(messages)
  const hits = useHits(text)
  const pick = (hit: Hit | undefined) => {
    if (hit === undefined) return
    setText('')
    setAt(0)
    onClose()
    if (typeof hit.act === 'string') navigate(hit.act)
    else void hit.act()
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
          <Option
            key={`${hit.title} ${hit.note}`}
            hit={hit}
            isCurrent={i === at}
            onPick={() => pick(hit)}
          />
        ))}
      </Stack>
      {hits.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('nothing')}
        </Text>
      )}
    </Modal>
  )
}

function Option({
  hit: { title, note, isPrivate = false },
  isCurrent,
  onPick,
}: {
  hit: Hit
  isCurrent: boolean
  onPick: () => void
}) {
  const named = isPrivate ? { className: privateClass } : {}
  return (
    <UnstyledButton
      className="nav-link"
      role="option"
      aria-selected={isCurrent}
      aria-current={isCurrent ? 'page' : undefined}
      ref={isCurrent ? scrollThere : undefined}
      onClick={onPick}
    >
      {note === undefined ? (
        title
      ) : (
        <>
          <span {...named}>{title}</span>{' '}
          <Text span size="xs" c="dimmed" {...named}>
            {note}
          </Text>
        </>
      )}
    </UnstyledButton>
  )
}

/** The list may be longer than the dialog. */
const scrollThere = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' })

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const session = useSession()
  const t = useMessages(messages)
  const name = useMessages(pageTitles)
  const rows: [string, string][] = [
    [`${searchKeys}  /`, t('palette')],
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

// The playground: a tab for each thing to do, and inside it the interface that does it. The initial request
// comes from the address: interface and model from the query, a whole request from the fragment, which is
// not sent to any server.
import { Button, Select, Tabs } from '@mantine/core'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { Waiting } from '../../components/waiting.tsx'
import { loadWithRetry } from '../../lib/loading/load.ts'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useLocation, useQueryValue } from '../../lib/router.tsx'
import { messages } from './messages.ts'
import { keepDraft, lastTitle } from './request/drafts.ts'
import { type Endpoint, endpoints } from './request/endpoints.ts'
import { fragmentOf, type Preset, presetIn } from './request/presets.ts'
import { type Tab, tabs } from './request/tabs.ts'
import { Workbench } from './workbench.tsx'

const ChatView = lazy(() => loadWithRetry(() => import('./chat/chat.tsx')))
const BatchView = lazy(() => loadWithRetry(() => import('./batch/batch.tsx')))

/** A request that was chosen or came with the link; the count tells one choice from the next. */
interface Begun {
  preset: Preset
  count: number
}

function begunIn(count: number): Begun | undefined {
  const preset = presetIn(location.hash)
  return preset && { preset, count }
}

function useBegun() {
  const [begun, setBegun] = useState(() => begunIn(0))
  useEffect(() => {
    const moved = () => setBegun((before) => begunIn((before?.count ?? 0) + 1))
    for (const name of ['hashchange', 'popstate']) addEventListener(name, moved)
    return () => {
      for (const name of ['hashchange', 'popstate']) removeEventListener(name, moved)
    }
  }, [])
  const choose = (preset: Preset) => {
    // Then the address is the link; one that is too long stays as it is.
    const fragment = fragmentOf(preset) ?? ''
    history.pushState(null, '', location.pathname + fragment)
    setBegun((before) => ({ preset, count: (before?.count ?? 0) + 1 }))
  }
  return { begun, choose, forget: () => setBegun(undefined) }
}

const batchTitle = 'Batch'

/** Undefined: the tab that has no interface of its own. */
function useEndpoint(begun: Begun | undefined): Endpoint | undefined {
  const [title] = useQueryValue('try')
  const [use] = useQueryValue('use')
  const isPlain = useLocation().query.size === 0
  const asked = begun?.preset.title ?? title ?? (isPlain ? lastTitle() : undefined)
  if (asked === batchTitle) return undefined
  return (
    endpoints.find((each) => each.title === asked) ??
    endpoints.find((each) => title === undefined && each.use === use) ??
    endpoints[0]
  )
}

export default function Playground() {
  const t = useMessages(messages)
  const { begun, choose, forget } = useBegun()
  const endpoint = useEndpoint(begun)
  const isDamaged = location.hash.startsWith('#request') && begun === undefined
  const open = (title: string, as?: 'json') => {
    forget()
    setQuery({ try: title, as, use: undefined })
  }
  const openTab = (tab: string | null) =>
    open(endpoints.find((each) => each.tab === tab)?.title ?? batchTitle)
  return (
    <Page title={t('title')} hint={t('hint')}>
      {isDamaged && <ErrorAlert error={new Error(t('damaged'))} />}
      <Tabs value={endpoint?.tab ?? 'batch'} onChange={openTab}>
        <Tabs.List>
          {tabs.map((tab: Tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {t(`tab_${tab}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <Suspense fallback={<Waiting />}>
        {endpoint === undefined ? (
          <BatchView />
        ) : (
          <TryOut {...{ endpoint, begun, onChoose: choose, onOpen: open }} />
        )}
      </Suspense>
    </Page>
  )
}

interface TryOutProps {
  endpoint: Endpoint
  begun: Begun | undefined
  onChoose: (preset: Preset) => void
  onOpen: (title: string, as?: 'json') => void
}

function TryOut({ endpoint, begun, onChoose, onOpen }: TryOutProps) {
  const t = useMessages(messages)
  const [as] = useQueryValue('as')
  const preset = begun?.preset.title === endpoint.title ? begun.preset : undefined
  const isChat = endpoint.tab === 'chat'
  const isJson = preset === undefined ? as === 'json' : preset.isConversation !== true
  const beside = endpoints.filter(({ tab }) => tab === endpoint.tab)
  const choice = beside.length > 1 && (
    <Select
      label={t('interface')}
      data={beside.map((each) => ({ value: each.title, label: each.path('…') }))}
      value={endpoint.title}
      allowDeselect={false}
      onChange={(title) => title !== null && onOpen(title, isChat && isJson ? 'json' : undefined)}
    />
  )
  const shared = { endpoint, begin: preset, onChoose }
  if (isChat && !isJson) {
    return (
      <ChatView
        // One conversation for all styles.
        key={begun?.count ?? ''}
        {...shared}
        onJson={(draft) => {
          keepDraft({ title: endpoint.title, ...draft })
          onOpen(endpoint.title, 'json')
        }}
      >
        {choice}
      </ChatView>
    )
  }
  return (
    <Workbench key={`${endpoint.title} ${begun?.count ?? ''}`} {...shared}>
      {choice}
      {isChat && (
        <Button
          variant="default"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => onOpen(endpoint.title)}
        >
          {t('to_conversation')}
        </Button>
      )}
    </Workbench>
  )
}

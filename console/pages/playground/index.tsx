// The playground: one tab per interface. The initial request comes from the address: interface and model
// from the query, a whole request from the fragment, which is not sent to any server.
import { Tabs } from '@mantine/core'
import { useEffect, useState } from 'react'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { useMessages } from '../../lib/messages.ts'
import { useLocation, useQueryValue } from '../../lib/router.tsx'
import { messages } from './messages.ts'
import { lastTitle } from './request/drafts.ts'
import { endpoints } from './request/endpoints.ts'
import { fragmentOf, type Preset, presetIn } from './request/presets.ts'
import { Workbench } from './workbench.tsx'

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

export default function Playground() {
  const t = useMessages(messages)
  const [title, setTitle] = useQueryValue('try')
  const [use] = useQueryValue('use')
  const isPlain = useLocation().query.size === 0
  const { begun, choose, forget } = useBegun()
  const endpoint =
    endpoints.find((each) => each.title === (begun?.preset.title ?? title)) ??
    endpoints.find((each) => title === undefined && each.use === use) ??
    endpoints.find((each) => isPlain && each.title === lastTitle()) ??
    endpoints[0]!
  const isDamaged = location.hash.startsWith('#request') && begun === undefined
  return (
    <Page title={t('title')} hint={t('hint')}>
      {isDamaged && <ErrorAlert error={new Error(t('damaged'))} />}
      <Tabs
        value={endpoint.title}
        onChange={(next) => {
          forget()
          setTitle(next ?? undefined)
        }}
      >
        <Tabs.List>
          {endpoints.map((each) => (
            <Tabs.Tab key={each.title} value={each.title}>
              {each.title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <Workbench
        key={`${endpoint.title} ${begun?.count ?? ''}`}
        endpoint={endpoint}
        begin={begun?.preset.title === endpoint.title ? begun.preset : undefined}
        onChoose={choose}
      />
    </Page>
  )
}

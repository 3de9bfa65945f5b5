// The playground: one tab for each interface. What a request begins with comes from the address: the
// interface and the model from its query, a whole request from its fragment, which no server sees.
import { Tabs } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { ErrorNote, Page } from '../../parts/page.tsx'
import { trials } from './interfaces.ts'
import { fragmentOf, type Preset, presetIn } from './presets.ts'
import { TryOut } from './try-out.tsx'
import { words } from './words.ts'

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
  const say = useWords(words)
  const [title, setTitle] = useQueryValue('try')
  const [use] = useQueryValue('use')
  const { begun, choose, forget } = useBegun()
  const trial =
    trials.find((each) => each.title === (begun?.preset.title ?? title)) ??
    trials.find((each) => title === undefined && each.use === use) ??
    trials[0]!
  const isDamaged = location.hash.startsWith('#request') && begun === undefined
  return (
    <Page title={say('title')} hint={say('hint')}>
      {isDamaged && <ErrorNote error={new Error(say('damaged'))} />}
      <Tabs
        value={trial.title}
        onChange={(next) => {
          forget()
          setTitle(next ?? undefined)
        }}
      >
        <Tabs.List>
          {trials.map((each) => (
            <Tabs.Tab key={each.title} value={each.title}>
              {each.title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <TryOut
        key={`${trial.title} ${begun?.count ?? ''}`}
        trial={trial}
        begin={begun?.preset.title === trial.title ? begun.preset : undefined}
        onChoose={choose}
      />
    </Page>
  )
}

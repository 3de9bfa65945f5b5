// One interface tried out: a call put together by form or as JSON, sent as an application would send
// it, to one model or to two, with what came back and what it cost.
import {
  Alert,
  Button,
  Grid,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Title,
  Tooltip,
} from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useKeys } from '../../lib/keys.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { common } from '../../parts/words.ts'
import { useChoices, usePrice, useTaskPrompt } from './choices.ts'
import { Editor } from './editor.tsx'
import { estimateFor } from './estimate.ts'
import type { Trial } from './interfaces.ts'
import { OutcomeView } from './outcome.tsx'
import type { Preset } from './presets.ts'
import { PresetsMenu } from './presets-menu.tsx'
import { type Sender, SenderField, useSender } from './sender.tsx'
import { type Attempt, useTry } from './use-try.ts'
import { words } from './words.ts'

export interface TryOutProps {
  trial: Trial
  begin: Preset | undefined
  onChoose: (preset: Preset) => void
}

/** As the sandbox names its channel. */
const sandboxChannel = 'sandbox'

/** The call as it stands: what is asked, of whom, at whose cost. */
function useCall(trial: Trial, begin: Preset | undefined) {
  const { accounts, models, isLoading } = useChoices(trial)
  const [account, setAccount] = useState<string | null>(null)
  const [asked] = useQueryValue('model')
  const [model, setModel] = useState<string | null>(begin?.model ?? asked ?? null)
  const [wanted, setOther] = useState<string | null>(begin?.other ?? null)
  const [text, setText] = useState(begin?.text ?? JSON.stringify(trial.body, null, 2))
  useTaskPrompt(trial, setText, setModel)
  const known = (name: string | null) => (name !== null && models.includes(name) ? name : undefined)
  const chosen = known(model) ?? models[0] ?? null
  const isCompared = trial.answer === 'text' && wanted !== null
  const other = isCompared
    ? (known(wanted) ?? models.find((name) => name !== chosen) ?? chosen)
    : null
  const paying = account ?? accounts[0] ?? null
  const preset = (): Preset => ({
    title: trial.title,
    text,
    ...(chosen !== null && { model: chosen }),
    ...(other !== null && { other }),
  })
  return {
    ...{ accounts, models, isLoading, paying, chosen, other, text, preset },
    ...{ setAccount, setModel, setOther, setText },
  }
}

type Call = ReturnType<typeof useCall>

export function TryOut({ trial, begin, onChoose }: TryOutProps) {
  const { environment } = useSession()
  const call = useCall(trial, begin)
  const { paying, chosen, other, text } = call
  const sender = useSender(paying)
  const first = useTry(trial)
  const second = useTry(trial)
  const isBusy = first.isBusy || second.isBusy
  const isReady = paying !== null && chosen !== null && sender.isReady && !isBusy
  const go = () => {
    if (!isReady) return
    const secret = sender.secretFor(paying)
    void first.run(secret, chosen, text)
    if (other === null) second.forget()
    else void second.run(secret, other, text)
  }
  const stop = () => {
    first.stop()
    second.stop()
  }
  // A field that opens with Enter would take it for its own.
  const sendFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    event.stopPropagation()
    go()
  }
  useKeys({ 'mod+enter': go, ...(isBusy && { Escape: stop }) })
  const isSandbox =
    environment === 'sandbox' || [first, second].some(({ channel }) => channel === sandboxChannel)
  const wide = other === null ? 6 : 5
  return (
    <Grid gap="lg" onKeyDownCapture={sendFirst}>
      <Grid.Col span={{ base: 12, md: wide }}>
        <Stack>
          <PresetsMenu now={call.preset} onChoose={onChoose} />
          <Models call={call} trial={trial} />
          <Payer call={call} sender={sender} />
          <Editor
            trial={trial}
            model={chosen ?? ''}
            text={text}
            isSandbox={isSandbox}
            onChange={call.setText}
          />
          <SendRow call={call} isBusy={isBusy} isReady={isReady} onGo={go} onStop={stop} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 12 - wide }}>
        <Outcomes trial={trial} call={call} attempts={[first, second]} />
      </Grid.Col>
    </Grid>
  )
}

function Models({ call, trial }: { call: Call; trial: Trial }) {
  const say = useWords(words)
  const shared = useWords(common)
  const { models, chosen, other } = call
  const nameOf = (name: string | null) => name ?? ''
  return (
    <>
      <Group grow align="flex-end">
        <Select
          label={shared('model')}
          data={models}
          value={chosen}
          searchable
          allowDeselect={false}
          onChange={call.setModel}
        />
        {other !== null && (
          <Select
            label={say('other_model')}
            data={models}
            value={other}
            searchable
            allowDeselect={false}
            onChange={call.setOther}
          />
        )}
      </Group>
      {trial.answer === 'text' && models.length > 0 && (
        <Switch
          label={say('compare')}
          checked={other !== null}
          onChange={(event) => call.setOther(event.currentTarget.checked ? nameOf(other) : null)}
        />
      )}
      {models.length === 0 && !call.isLoading && <Alert color="yellow">{say('no_model')}</Alert>}
    </>
  )
}

function Payer({ call, sender }: { call: Call; sender: Sender }) {
  const say = useWords(words)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select
        label={say('account')}
        data={call.accounts}
        value={call.paying}
        allowDeselect={false}
        classNames={{ input: privateClass }}
        onChange={call.setAccount}
      />
      <SenderField sender={sender} />
    </SimpleGrid>
  )
}

const modKey = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘' : 'Ctrl '

interface SendRowProps {
  call: Call
  isBusy: boolean
  isReady: boolean
  onGo: () => void
  onStop: () => void
}

function SendRow({ call, isBusy, isReady, onGo, onStop }: SendRowProps) {
  const say = useWords(words)
  const format = useFormat()
  const { currency } = useSession()
  const { paying, chosen, other, text } = call
  const prices = [usePrice(paying, chosen), usePrice(paying, other)]
  const estimates = prices
    .slice(0, other === null ? 1 : 2)
    .map((price) => estimateFor(price, text))
    .filter((each) => each !== undefined)
    .map((each) => format.money(each, currency))
  return (
    <Group>
      {isBusy ? (
        <Button color="red" variant="light" onClick={onStop}>
          {say('stop')} Esc
        </Button>
      ) : (
        <Button onClick={onGo} disabled={!isReady}>
          {say('send')} {modKey}↵
        </Button>
      )}
      {estimates.length > 0 && (
        <Tooltip label={say('about_hint')}>
          <Text size="sm" c="dimmed">
            {say('about', { amount: estimates.join(' + ') })}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}

function Outcomes({
  trial,
  call: { chosen, other },
  attempts: [first, second],
}: {
  trial: Trial
  call: Call
  attempts: readonly [Attempt, Attempt]
}) {
  if (other === null) return <OutcomeView trial={trial} attempt={first} />
  const scaleMs = Math.max(first.outcome?.totalMs ?? 0, second.outcome?.totalMs ?? 0)
  const pairs = [
    { side: 'left', name: chosen, attempt: first },
    { side: 'right', name: other, attempt: second },
  ]
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {pairs.map(({ side, name, attempt }) => (
        <section key={side} aria-label={name ?? ''} style={{ minWidth: 0 }}>
          <Title order={2} size="h5" mb="xs">
            {name}
          </Title>
          <OutcomeView trial={trial} attempt={attempt} scaleMs={scaleMs} />
        </section>
      ))}
    </SimpleGrid>
  )
}

// One interface tried out: a draft put together by form or as JSON, sent as an application would send
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
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { messages } from './messages.ts'
import { type Credential, CredentialField, useCredential } from './request/credential.tsx'
import { draftOf, keepDraft } from './request/drafts.ts'
import { Editor } from './request/editor.tsx'
import { type Endpoint, firstModel } from './request/endpoints.ts'
import { estimateFor } from './request/estimate.ts'
import { useChoices, usePrice, useTaskPrompt } from './request/options.ts'
import type { Preset } from './request/presets.ts'
import { PresetsMenu } from './request/presets-menu.tsx'
import { ResultView } from './result/result.tsx'
import { type Attempt, useCall } from './use-call.ts'

interface TryOutProps {
  endpoint: Endpoint
  begin: Preset | undefined
  onChoose: (preset: Preset) => void
}

/** As the sandbox names its channel. */
const sandboxChannel = 'sandbox'

/** The draft as it stands: what is asked, of whom, at whose cost. */
function useDraft(endpoint: Endpoint, begin: Preset | undefined) {
  const { accounts, models, isLoading } = useChoices(endpoint)
  const [account, setAccount] = useState<string | null>(null)
  const [asked] = useQueryValue('model')
  const [first] = useState(() => begin ?? draftOf(endpoint.title))
  const [model, setModel] = useState<string | null>(begin?.model ?? asked ?? first?.model ?? null)
  const [wanted, setOther] = useState<string | null>(first?.other ?? null)
  const [text, setText] = useState(first?.text ?? JSON.stringify(endpoint.body, null, 2))
  useTaskPrompt(endpoint, setText, setModel)
  useEffect(() => {
    const { title } = endpoint
    keepDraft({
      ...{ title, text },
      ...(model !== null && { model }),
      ...(wanted !== null && { other: wanted }),
    })
  }, [endpoint, text, model, wanted])
  const known = (name: string | null) => (name !== null && models.includes(name) ? name : undefined)
  const chosen = known(model) ?? firstModel(endpoint, models) ?? null
  const isCompared = endpoint.answer === 'text' && wanted !== null
  const other = isCompared
    ? (known(wanted) ?? models.find((name) => name !== chosen) ?? chosen)
    : null
  const paying = account ?? accounts[0] ?? null
  const preset = (): Preset => ({
    title: endpoint.title,
    text,
    ...(chosen !== null && { model: chosen }),
    ...(other !== null && { other }),
  })
  return {
    ...{ accounts, models, isLoading, paying, chosen, other, text, preset },
    ...{ setAccount, setModel, setOther, setText },
  }
}

type Draft = ReturnType<typeof useDraft>

export function Workbench({ endpoint, begin, onChoose }: TryOutProps) {
  const { environment } = useSession()
  const draft = useDraft(endpoint, begin)
  const { paying, chosen, other, text } = draft
  const sender = useCredential(paying)
  const first = useCall(endpoint)
  const second = useCall(endpoint)
  const isBusy = first.isBusy || second.isBusy
  const isReady = paying !== null && chosen !== null && sender.isReady && !isBusy
  const send = () => {
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
  const sendOnModEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    event.stopPropagation()
    send()
  }
  useShortcuts({ 'mod+enter': send, ...(isBusy && { Escape: stop }) })
  const isSandbox =
    environment === 'sandbox' || [first, second].some(({ channel }) => channel === sandboxChannel)
  const wide = other === null ? 6 : 5
  return (
    <Grid gap="lg" onKeyDownCapture={sendOnModEnter}>
      <Grid.Col span={{ base: 12, md: wide }}>
        <Stack>
          <PresetsMenu now={draft.preset} onChoose={onChoose} />
          <Models draft={draft} endpoint={endpoint} />
          <Payer draft={draft} sender={sender} />
          <Editor
            endpoint={endpoint}
            model={chosen ?? ''}
            text={text}
            isSandbox={isSandbox}
            onChange={draft.setText}
          />
          <SendRow draft={draft} isBusy={isBusy} isReady={isReady} onSend={send} onStop={stop} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 12 - wide }}>
        <Outcomes endpoint={endpoint} draft={draft} attempts={[first, second]} />
      </Grid.Col>
    </Grid>
  )
}

function Models({ draft, endpoint }: { draft: Draft; endpoint: Endpoint }) {
  const t = useMessages(messages)
  const { models, chosen, other } = draft
  const nameOf = (name: string | null) => name ?? ''
  return (
    <>
      <Group grow align="flex-end">
        <Select
          label={t('model')}
          data={models}
          value={chosen}
          searchable
          allowDeselect={false}
          onChange={draft.setModel}
        />
        {other !== null && (
          <Select
            label={t('other_model')}
            data={models}
            value={other}
            searchable
            allowDeselect={false}
            onChange={draft.setOther}
          />
        )}
      </Group>
      {endpoint.answer === 'text' && models.length > 0 && (
        <Switch
          label={t('compare')}
          checked={other !== null}
          onChange={(event) => draft.setOther(event.currentTarget.checked ? nameOf(other) : null)}
        />
      )}
      {models.length === 0 && !draft.isLoading && <Alert color="yellow">{t('no_model')}</Alert>}
    </>
  )
}

function Payer({ draft, sender }: { draft: Draft; sender: Credential }) {
  const t = useMessages(messages)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select
        label={t('paid_by')}
        data={draft.accounts}
        value={draft.paying}
        allowDeselect={false}
        classNames={{ input: privateClass }}
        onChange={draft.setAccount}
      />
      <CredentialField sender={sender} />
    </SimpleGrid>
  )
}

const modKey = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘' : 'Ctrl '

interface SendRowProps {
  draft: Draft
  isBusy: boolean
  isReady: boolean
  onSend: () => void
  onStop: () => void
}

function SendRow({ draft, isBusy, isReady, onSend, onStop }: SendRowProps) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { paying, chosen, other, text } = draft
  const prices = [usePrice(paying, chosen), usePrice(paying, other)]
  const estimates = prices
    .slice(0, other === null ? 1 : 2)
    .map((price) => estimateFor(price, text))
    .filter((each) => each !== undefined)
    .map((each) => format.cost(each, currency))
  return (
    <Group className="send-row">
      {isBusy ? (
        <Button color="red" variant="light" onClick={onStop}>
          {t('stop')} Esc
        </Button>
      ) : (
        <Button onClick={onSend} disabled={!isReady}>
          {t('send')} {modKey}↵
        </Button>
      )}
      {estimates.length > 0 && (
        <Tooltip label={t('about_hint')}>
          <Text size="sm" c="dimmed">
            {t('about', { amount: estimates.join(' + ') })}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}

function Outcomes({
  endpoint,
  draft: { chosen, other },
  attempts: [first, second],
}: {
  endpoint: Endpoint
  draft: Draft
  attempts: readonly [Attempt, Attempt]
}) {
  if (other === null) return <ResultView endpoint={endpoint} attempt={first} />
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
          <ResultView endpoint={endpoint} attempt={attempt} scaleMs={scaleMs} />
        </section>
      ))}
    </SimpleGrid>
  )
}

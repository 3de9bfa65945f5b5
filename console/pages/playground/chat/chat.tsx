// A conversation with one model, or with two side by side, in any style of text.
import { Alert, Button, Grid, Group, Modal, Select, SimpleGrid, Stack, Switch } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../../lib/messages.ts'
import { useSession } from '../../../lib/session.ts'
import { messages } from '../messages.ts'
import { codeFor } from '../request/code.ts'
import { CodePanel } from '../request/code-panel.tsx'
import { PayerFields, usePayer } from '../request/payer.tsx'
import type { Preset } from '../request/presets.ts'
import { PresetsMenu } from '../request/presets-menu.tsx'
import { SandboxControls } from '../request/sandbox-controls.tsx'
import { onModEnter, SendRow, sandboxChannel } from '../request/send-row.tsx'
import type { TryOutProps } from '../workbench.tsx'
import { Composer } from './composer.tsx'
import { LaneView } from './lane-view.tsx'
import { Settings } from './settings.tsx'
import { type Chat, useChat } from './use-chat.ts'

interface ChatProps extends TryOutProps {
  /** To the same request as a body that can be edited. */
  onJson: OpenJson
}

type OpenJson = (draft: Pick<Preset, 'text' | 'model'>) => void

export default function ChatView({ endpoint, begin, onChoose, onJson, children }: ChatProps) {
  const payer = usePayer()
  const chat = useChat(endpoint, begin, payer)
  const settings = (
    <Stack gap="sm">
      {children}
      <Models chat={chat} />
      <PayerFields payer={payer} cols={1} />
      <Settings style={chat.style} setUp={chat.setUp} onChange={chat.setSetUp} />
    </Stack>
  )
  return (
    <Grid gap="lg" onKeyDownCapture={onModEnter(chat.send)}>
      <Grid.Col span={{ base: 12, md: 8 }} order={{ base: 2, md: 1 }}>
        <Stack>
          <Lanes chat={chat} />
          <Composer
            prompt={chat.prompt}
            images={chat.images}
            onPrompt={chat.setPrompt}
            onImages={chat.setImages}
          >
            <Sandbox chat={chat} />
          </Composer>
          <SendRow
            text={chat.estimated}
            callers={chat.models.map((model) => ({ account: payer.account, model }))}
            isBusy={chat.isBusy}
            isReady={chat.isReady}
            onSend={chat.send}
            onStop={chat.stop}
          >
            <Actions chat={chat} payer={payer} onChoose={onChoose} onJson={onJson} />
          </SendRow>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }} order={{ base: 1, md: 2 }}>
        <Foldable title={chat.models.join(', ')}>{settings}</Foldable>
      </Grid.Col>
    </Grid>
  )
}

/** On a phone what is said comes first; the rest unfolds. */
function Foldable({ title, children }: { title: string; children: ReactNode }) {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        hiddenFrom="md"
        variant="default"
        fullWidth
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {t('settings')} · {title}
      </Button>
      <div className="foldable" data-open={isOpen || undefined}>
        {children}
      </div>
    </>
  )
}

function Models({ chat }: { chat: Chat }) {
  const t = useMessages(messages)
  const { names, models, isLoading } = chat
  const [first = null, second] = models
  return (
    <>
      <Select
        label={t('model')}
        data={names}
        value={first}
        searchable
        allowDeselect={false}
        onChange={chat.setModel}
      />
      {second !== undefined && (
        <Select
          label={t('other_model')}
          data={names}
          value={second}
          searchable
          allowDeselect={false}
          onChange={chat.setOther}
        />
      )}
      {names.length > 0 && (
        <Switch
          label={t('compare')}
          checked={second !== undefined}
          disabled={chat.isBusy}
          onChange={(event) => chat.setCompared(event.currentTarget.checked)}
        />
      )}
      {names.length === 0 && !isLoading && <Alert color="yellow">{t('no_model')}</Alert>}
    </>
  )
}

function Lanes({ chat }: { chat: Chat }) {
  const { lanes, models } = chat
  return (
    <SimpleGrid cols={{ base: 1, sm: lanes.length }}>
      {lanes.map((lane, at) => (
        <div key={at === 0 ? 'first' : 'second'} style={{ minWidth: 0 }}>
          {lanes.length > 1 && <h2 className="lane-title">{models[at]}</h2>}
          <LaneView
            lane={lane}
            model={models[at] ?? ''}
            onAnswer={(turn) => chat.ask(at, turn)}
            onAgain={() => chat.ask(at)}
            onEdit={lanes.length === 1 ? chat.editFrom : undefined}
          />
        </div>
      ))}
    </SimpleGrid>
  )
}

/** Only the sandbox reads directives. */
function Sandbox({ chat }: { chat: Chat }) {
  const t = useMessages(messages)
  const { environment } = useSession()
  const answered = chat.lanes.flatMap(({ reports }) => [...reports.values()])
  const isSandbox =
    environment === 'sandbox' || answered.some(({ channel }) => channel === sandboxChannel)
  if (!isSandbox) return null
  return (
    <details>
      <summary className="quiet-summary">{t('sandbox')}</summary>
      <SandboxControls prompt={chat.prompt} isText onChange={chat.setPrompt} />
    </details>
  )
}

function Actions({
  chat,
  payer,
  onChoose,
  onJson,
}: {
  chat: Chat
  payer: ReturnType<typeof usePayer>
  onChoose: TryOutProps['onChoose']
  onJson: OpenJson
}) {
  const t = useMessages(messages)
  const { public_url } = useSession()
  const [isOpen, setOpen] = useState(false)
  const hasTurns = chat.lanes.some(({ turns }) => turns.length > 0)
  return (
    <Group gap="xs">
      {hasTurns && (
        <Button variant="default" size="xs" disabled={chat.isBusy} onClick={chat.clear}>
          {t('new_conversation')}
        </Button>
      )}
      <Button variant="default" size="xs" onClick={() => setOpen(true)}>
        {t('code')}
      </Button>
      <PresetsMenu now={chat.preset} onChoose={onChoose} />
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t('code')} size="xl">
        <Stack>
          <CodePanel
            payer={payer}
            snippets={(token) => codeFor(public_url, chat.path, chat.body, token)}
          />
          <Button
            variant="default"
            style={{ alignSelf: 'flex-start' }}
            onClick={() =>
              onJson({
                text: JSON.stringify(chat.bodyOnly, null, 2),
                ...(chat.models[0] !== undefined && { model: chat.models[0] }),
              })
            }
          >
            {t('edit_json')}
          </Button>
        </Stack>
      </Modal>
    </Group>
  )
}

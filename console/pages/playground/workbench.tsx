// One interface tried out: a draft put together by form or as JSON, sent as an application would send
// it, with what came back and what it cost.
import { Alert, Grid, Select, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { draftOf, keepDraft } from './request/drafts.ts'
import { Editor } from './request/editor.tsx'
import type { Endpoint } from './request/endpoints.ts'
import { useModels, useTaskPrompt } from './request/options.ts'
import { PayerFields, usePayer } from './request/payer.tsx'
import type { Preset } from './request/presets.ts'
import { PresetsMenu } from './request/presets-menu.tsx'
import { onModEnter, SendRow, sandboxChannel } from './request/send-row.tsx'
import { SoundField } from './request/sound-field.tsx'
import { ResultView } from './result/result.tsx'
import { useCall } from './use-call.ts'

export interface TryOutProps {
  endpoint: Endpoint
  begin: Preset | undefined
  onChoose: (preset: Preset) => void
  /** What chooses the interface. */
  children?: ReactNode
}

/** The draft as it stands: what is asked, and of which model. */
function useDraft(endpoint: Endpoint, begin: Preset | undefined, account: string | null) {
  const { names, isLoading, first: usual, remember } = useModels(endpoint, account)
  const [asked] = useQueryValue('model')
  const [first] = useState(() => begin ?? draftOf(endpoint.title))
  const [wanted, setModel] = useState<string | null>(begin?.model ?? asked ?? first?.model ?? null)
  const [text, setText] = useState(first?.text ?? JSON.stringify(endpoint.body, null, 2))
  useTaskPrompt(endpoint, setText, setModel)
  useEffect(() => {
    keepDraft({ title: endpoint.title, text, ...(wanted !== null && { model: wanted }) })
  }, [endpoint, text, wanted])
  const isKnown = wanted !== null && names.includes(wanted)
  const model = (isKnown ? wanted : usual) ?? null
  const preset = (): Preset => ({
    ...{ title: endpoint.title, text },
    ...(model !== null && { model }),
  })
  return { names, isLoading, model, text, preset, setModel, setText, remember }
}

export function Workbench({ endpoint, begin, onChoose, children }: TryOutProps) {
  const t = useMessages(messages)
  const { environment } = useSession()
  const payer = usePayer()
  const draft = useDraft(endpoint, begin, payer.account)
  const { names, model, text } = draft
  const [file, setFile] = useState<File>()
  const call = useCall(endpoint)
  const isComplete = endpoint.takesFile !== true || file !== undefined
  const isReady = model !== null && payer.isReady && isComplete && !call.isBusy
  const send = () => {
    if (!isReady) return
    draft.remember(model)
    void call.run(payer.secret(), model, text, file)
  }
  return (
    <Grid gap="lg" onKeyDownCapture={onModEnter(send)}>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          {children}
          <Select
            label={t('model')}
            data={names}
            value={model}
            searchable
            allowDeselect={false}
            onChange={draft.setModel}
          />
          {names.length === 0 && !draft.isLoading && <Alert color="yellow">{t('no_model')}</Alert>}
          <PayerFields payer={payer} />
          <Editor
            {...{ endpoint, text, payer }}
            model={model ?? ''}
            isSandbox={environment === 'sandbox' || call.channel === sandboxChannel}
            onChange={draft.setText}
          >
            {endpoint.takesFile && <SoundField file={file} onChange={setFile} />}
          </Editor>
          <SendRow
            {...{ isReady, text }}
            isBusy={call.isBusy}
            callers={[{ account: payer.account, model }]}
            onSend={send}
            onStop={call.stop}
          >
            <PresetsMenu now={draft.preset} onChoose={onChoose} />
          </SendRow>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <ResultView endpoint={endpoint} attempt={call} />
      </Grid.Col>
    </Grid>
  )
}

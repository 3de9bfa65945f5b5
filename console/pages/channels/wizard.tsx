// A new channel step by step: its type, its key, a test, its models, and prices that are missing. It is
// created when its models are chosen, so no call goes to an untested upstream.
import { Button, Group, Modal, Stepper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { TestResult } from '../../lib/resources/channel.ts'
import { useAction } from '../../lib/use-action.ts'
import { emptyCloud } from './cloud-draft.ts'
import { bodyOf, type Draft, isComplete, modelsIn } from './draft.ts'
import { messages } from './messages.ts'
import type { Outgoing } from './outgoing.tsx'
import type { Kind } from './upstream-kinds.ts'
import {
  KeyStep,
  KindStep,
  ModelStep,
  type OfferedModel,
  PriceStep,
  TestStep,
  useModels,
} from './wizard-steps.tsx'

interface Props {
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function ChannelWizard({ isOpen, onClose, onDone }: Props) {
  const t = useMessages(messages)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('add')} size="xl" closeOnClickOutside={false}>
      {isOpen && <Steps onClose={onClose} onDone={onDone} />}
    </Modal>
  )
}

const steps = ['step_kind', 'step_key', 'step_test', 'step_models', 'step_prices'] as const
type Step = (typeof steps)[number]

const buttons: Readonly<Record<Step, 'next' | 'go_test' | 'put_to_work' | 'finish'>> = {
  step_kind: 'next',
  step_key: 'go_test',
  step_test: 'next',
  step_models: 'put_to_work',
  step_prices: 'finish',
}

const emptyDraft: Draft = { name: '', base: '', keys: '', cloud: emptyCloud, models: '' }

/** What would be sent, and one call. */
async function testDraft(kind: Kind, draft: Draft, models: readonly OfferedModel[]) {
  const texts = models.filter((model) => model.kind === 'text').map(({ name }) => name)
  // A call needs a model of the catalog; what was added stays as it is when this is tried again.
  for (const model of models) if (model.isNew) await addModel(draft, kind, model.name)
  const body = bodyOf(kind, draft, texts.length === 0 ? ['*'] : texts)
  const outgoing = await api<Outgoing>('POST', '/channels/preview', { body })
  return { outgoing, test: await api<TestResult>('POST', '/channels/test', { body }) }
}

/** With a preset, the models of its upstream come along. */
async function createChannel(kind: Kind, draft: Draft, models: readonly OfferedModel[]) {
  const names = models.map(({ name }) => name)
  await api('POST', '/channels', { body: bodyOf(kind, draft, names) })
  if (kind.preset === undefined || kind.preset.cloud !== null) return
  const path = `/channels/${encodeURIComponent(draft.name)}/discover`
  await api('POST', path, { body: { add: true } })
}

/** In the style that its upstream speaks; others are translated. */
async function addModel(draft: Draft, kind: Kind, name: string) {
  const upstream = modelsIn(draft)[name] === '*' ? name : (modelsIn(draft)[name] ?? name)
  const own = kind.preset?.cloud === 'google' ? 'generate' : 'chat'
  const interfaces = [/claude|anthropic/i.test(upstream) ? 'messages' : own]
  const path = `/models/${encodeURIComponent(name)}`
  await api('PUT', path, { body: { kind: 'text', interfaces } })
}

/** Whether a step can be left. */
function isReady(step: Step, kind: Kind | undefined, draft: Draft, picked: readonly string[]) {
  if (step === 'step_kind') return kind !== undefined
  if (step === 'step_key') return isComplete(draft, kind)
  return step !== 'step_models' || picked.length > 0 || kind?.preset !== undefined
}

/** What was entered so far, and what each step does when it is left. */
function useWizard(onDone: () => void) {
  const [at, setAt] = useState(0)
  const [kind, setKind] = useState<Kind>()
  const [draft, setDraft] = useState(emptyDraft)
  const [test, setTest] = useState<TestResult>()
  const [outgoing, setOutgoing] = useState<Outgoing>({ endpoints: {}, request: null })
  const [chosen, setChosen] = useState<string[]>()
  const action = useAction()
  const queryClient = useQueryClient()
  const models = useModels(kind, Object.keys(modelsIn(draft)))
  const picked = chosen ?? models.map(({ name }) => name)
  const step = steps[at]!
  const runTest = async () => {
    const found = await testDraft(kind!, draft, models)
    setOutgoing(found.outgoing)
    setTest(found.test)
  }
  const create = async () => {
    const served = models.filter(({ name }) => picked.includes(name))
    await createChannel(kind!, draft, served)
    // With its first own channel a gateway leaves the sandbox.
    await queryClient.invalidateQueries({ queryKey: ['session'] })
    onDone()
  }
  const leave: Partial<Record<Step, () => Promise<void>>> = {
    step_key: runTest,
    step_models: create,
  }
  const next = () => action.run(async () => leave[step]?.()).then((done) => done && setAt(at + 1))
  const choose = (chosen: Kind) => {
    setKind(chosen)
    if (draft.name === '') setDraft({ ...draft, name: chosen.preset?.name ?? '' })
  }
  return {
    ...{ at, step, setAt, kind, setKind: choose, draft, setDraft, test, outgoing },
    ...{ models, picked, setChosen },
    ...{ action, next, isReady: isReady(step, kind, draft, picked) },
  }
}

/** No tick for a test that failed. */
const failedStep = (text: string) => ({
  color: 'red',
  description: text,
  completedIcon: <Icon name="close" size={14} />,
})

function Steps({ onClose, onDone }: Omit<Props, 'isOpen'>) {
  const t = useMessages(messages)
  const wizard = useWizard(onDone)
  const { at, step, kind, models, picked } = wizard
  const isLast = step === 'step_prices'
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (isLast) onClose()
    else void wizard.next()
  }
  return (
    <form onSubmit={submit}>
      <Stepper active={at} size="xs" allowNextStepsSelect={false} mb="md">
        {steps.map((each) => (
          <Stepper.Step
            key={each}
            label={t(each)}
            {...(each === 'step_test' && wizard.test?.ok === false && failedStep(t('test_failed')))}
          />
        ))}
      </Stepper>
      {step === 'step_kind' && <KindStep kind={kind} onChange={wizard.setKind} />}
      {step === 'step_key' && (
        <KeyStep
          kind={kind!}
          draft={wizard.draft}
          onChange={wizard.setDraft}
          error={wizard.action.error}
        />
      )}
      {step === 'step_test' && (
        <TestStep kind={kind!} models={models} test={wizard.test} outgoing={wizard.outgoing} />
      )}
      {step === 'step_models' && (
        <ModelStep models={models} chosen={picked} onChange={wizard.setChosen} />
      )}
      {isLast && <PriceStep models={models.filter(({ name }) => picked.includes(name))} />}
      <ErrorAlert error={wizard.action.error} />
      <Group justify="flex-end" mt="md">
        {!isLast && (
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
        )}
        {at > 0 && !isLast && (
          <Button variant="default" onClick={() => wizard.setAt(at - 1)}>
            {t('back')}
          </Button>
        )}
        <Button type="submit" loading={wizard.action.isBusy} disabled={!wizard.isReady}>
          {t(buttons[step])}
        </Button>
      </Group>
    </form>
  )
}

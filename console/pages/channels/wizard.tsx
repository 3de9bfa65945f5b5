// A new channel step by step: what it is, its key, a test, its models, and what they still lack. It is
// there when its models are chosen: nobody is sent to an upstream that was not tried.
import { Button, Group, Modal, Stepper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { TestResult } from '../../lib/resources/channel.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'
import { addressesOf, type Kind } from './upstream-kinds.ts'
import { KeyStep, KindStep, ModelStep, PriceStep, TestStep, useModels } from './wizard-steps.tsx'

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

export interface Draft {
  name: string
  base: string
  keys: string
}

/** Keys, one a line. */
export const keysIn = (text: string): string[] =>
  text
    .split('\n')
    .map((key) => key.trim())
    .filter((key) => key !== '')

const steps = ['step_kind', 'step_key', 'step_test', 'step_models', 'step_prices'] as const
type Step = (typeof steps)[number]

const buttons: Readonly<Record<Step, 'next' | 'go_test' | 'put_to_work' | 'finish'>> = {
  step_kind: 'next',
  step_key: 'go_test',
  step_test: 'next',
  step_models: 'put_to_work',
  step_prices: 'finish',
}

/** What has been given so far, and what going on from a step does. */
function useWizard(onDone: () => void) {
  const [at, setAt] = useState(0)
  const [kind, setKind] = useState<Kind>()
  const [draft, setDraft] = useState<Draft>({ name: '', base: '', keys: '' })
  const [test, setTest] = useState<TestResult>()
  const [chosen, setChosen] = useState<string[]>()
  const action = useAction()
  const queryClient = useQueryClient()
  const models = useModels(kind)
  const picked = chosen ?? models.map(({ name }) => name)
  const step = steps[at]!
  const bodyWith = (names: readonly string[]) => ({
    name: draft.name,
    protocols: addressesOf(kind!, draft.base),
    keys: keysIn(draft.keys),
    models: Object.fromEntries(names.map((name) => [name, '*'])),
  })
  const next = () =>
    action.run(async () => {
      if (step === 'step_key') {
        const texts = models.filter((model) => model.kind === 'text').map(({ name }) => name)
        const tried = texts.length === 0 ? ['*'] : texts
        setTest(await api('POST', '/channels/test', { body: bodyWith(tried) }))
      }
      if (step === 'step_models') {
        await api('POST', '/channels', { body: bodyWith(picked) })
        // With the first one of its own a gateway leaves the sandbox.
        await queryClient.invalidateQueries({ queryKey: ['session'] })
        onDone()
      }
      setAt(at + 1)
    })
  const lacks: Partial<Record<Step, boolean>> = {
    step_kind: kind === undefined,
    step_key: [draft.name, draft.base, draft.keys].some((text) => text.trim() === ''),
    step_models: picked.length === 0,
  }
  return {
    ...{ at, step, setAt, kind, setKind, draft, setDraft, test, models, picked, setChosen },
    ...{ action, next, isReady: lacks[step] !== true },
  }
}

function Steps({ onClose, onDone }: Omit<Props, 'isOpen'>) {
  const t = useMessages(messages)
  const it = useWizard(onDone)
  const { at, step, kind, models, picked } = it
  const isLast = step === 'step_prices'
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (isLast) onClose()
    else void it.next()
  }
  return (
    <form onSubmit={submit}>
      <Stepper active={at} size="xs" allowNextStepsSelect={false} mb="md">
        {steps.map((each) => (
          <Stepper.Step key={each} label={t(each)} />
        ))}
      </Stepper>
      {step === 'step_kind' && <KindStep kind={kind} onChange={it.setKind} />}
      {step === 'step_key' && <KeyStep kind={kind!} draft={it.draft} onChange={it.setDraft} />}
      {step === 'step_test' && <TestStep test={it.test} />}
      {step === 'step_models' && (
        <ModelStep models={models} chosen={picked} onChange={it.setChosen} />
      )}
      {isLast && <PriceStep models={models.filter(({ name }) => picked.includes(name))} />}
      <ErrorAlert error={it.action.error} />
      <Group justify="flex-end" mt="md">
        {!isLast && (
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
        )}
        {at > 0 && !isLast && (
          <Button variant="default" onClick={() => it.setAt(at - 1)}>
            {t('back')}
          </Button>
        )}
        <Button type="submit" loading={it.action.isBusy} disabled={!it.isReady}>
          {t(buttons[step])}
        </Button>
      </Group>
    </form>
  )
}

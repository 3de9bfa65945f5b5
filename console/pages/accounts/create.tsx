// A new account step by step: who the customer is, the money, the people who sign in, the first token. Nothing is made
// before the last button, which every step has: what follows can be left out.
import { Button, Group, Modal, Stepper, Text } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { SlowNote } from '../../components/waiting.tsx'
import { useMessages } from '../../lib/messages.ts'
import { useAction } from '../../lib/use-action.ts'
import { CustomerStep, MoneyStep, Outcome, PeopleStep, TokenStep } from './create-steps.tsx'
import { messages } from './messages.ts'
import { type Draft, isWhole, newDraft, useOnboarding, wrongEmails } from './onboarding.ts'

interface Props {
  onClose: () => void
  /** With the name of the account. */
  onDone: (name: string) => void
}

const steps = ['step_customer', 'step_money', 'step_people', 'step_token'] as const

const stepViews = {
  step_customer: CustomerStep,
  step_money: MoneyStep,
  step_people: PeopleStep,
  step_token: TokenStep,
}

export function CreateAccount({ onClose, onDone }: Props) {
  const t = useMessages(messages)
  const [draft, setDraft] = useState(newDraft)
  const { made, run } = useOnboarding()
  const action = useAction()
  const leave = () => (made.account === undefined ? onClose() : onDone(made.account))
  const create = () =>
    void action.run(async () => {
      const all = await run(draft)
      // Nothing is left to be copied.
      if (all.links.length === 0 && all.secret === undefined) onDone(all.account!)
    })
  const isMade = made.account !== undefined
  return (
    <Modal
      opened
      onClose={leave}
      title={t('new_account')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={!isMade}
      withCloseButton={!isMade}
    >
      {isMade ? (
        <>
          <Outcome draft={draft} made={made} />
          <ErrorAlert error={action.error} />
          <Group justify="flex-end" mt="md">
            {!isWhole(draft, made) && !action.isBusy && (
              <Button variant="default" onClick={create}>
                {t('go_on')}
              </Button>
            )}
            <Button loading={action.isBusy} onClick={leave}>
              {t('open_account')}
            </Button>
          </Group>
        </>
      ) : (
        <Steps {...{ draft, setDraft, action, onClose }} onCreate={create} />
      )}
    </Modal>
  )
}

function Steps({
  draft,
  setDraft,
  action: { error, isBusy },
  onClose,
  onCreate,
}: {
  draft: Draft
  setDraft: (draft: Draft) => void
  action: ReturnType<typeof useAction>
  onClose: () => void
  onCreate: () => void
}) {
  const t = useMessages(messages)
  const [at, setAt] = useState(0)
  const isLast = at === steps.length - 1
  const isWrong = wrongEmails(draft).length > 0
  const View = stepViews[steps[at]!]
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const { submitter } = event.nativeEvent as unknown as { submitter: HTMLButtonElement | null }
    if (isLast || submitter?.value === 'create') onCreate()
    else setAt(at + 1)
  }
  return (
    <form onSubmit={submit}>
      <Stepper active={at} onStepClick={setAt} allowNextStepsSelect={false} size="xs" mb="md">
        {steps.map((each) => (
          <Stepper.Step key={each} label={t(each)} />
        ))}
      </Stepper>
      <View draft={draft} onChange={(part) => setDraft({ ...draft, ...part })} />
      <Text size="xs" c="dimmed" mt="md">
        {t('nothing_made')}
      </Text>
      <ErrorAlert error={error} />
      <Group justify="flex-end" mt="md">
        {isBusy && <SlowNote />}
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        {at > 0 && (
          <Button variant="default" onClick={() => setAt(at - 1)}>
            {t('back')}
          </Button>
        )}
        {/* The first button that submits is the one of the Enter key. */}
        {!isLast && (
          <Button type="submit" disabled={isWrong}>
            {t('next')}
          </Button>
        )}
        <Button
          type="submit"
          value="create"
          disabled={isWrong}
          variant={isLast ? 'filled' : 'default'}
          loading={isBusy}
        >
          {t('create')}
        </Button>
      </Group>
    </form>
  )
}

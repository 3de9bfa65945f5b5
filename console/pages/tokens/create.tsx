// A new token, or a new secret for one: what it may do, then the secret, once, and how to use it.
import { Alert, Button, Modal, Select, Stack, Text } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CodeTabs } from '../../parts/code-tabs.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { FormEnd } from '../../parts/form-end.tsx'
import { TokenForm } from './form.tsx'
import { snippets } from './snippets.ts'
import type { Token } from './token.ts'
import { words } from './words.ts'

interface Props {
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function CreateToken({ isOpen, onClose, onDone }: Props) {
  const say = useWords(words)
  const [secret, setSecret] = useState<string>()
  const close = () => {
    setSecret(undefined)
    onClose()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={say('create')}
      size="lg"
      closeOnClickOutside={false}
    >
      {secret === undefined ? (
        <TokenForm
          onCancel={close}
          onDone={({ token }) => {
            setSecret(token)
            onDone()
          }}
        />
      ) : (
        <Secret secret={secret} onDone={close} />
      )}
    </Modal>
  )
}

function Secret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const say = useWords(words)
  const { public_url } = useSession()
  return (
    <Stack>
      <Alert color="yellow">{say('secret')}</Alert>
      <div className={privateClass}>
        <CopyBlock text={secret} label={say('secret')} />
      </div>
      <Text fw={600}>{say('connect')}</Text>
      <CodeTabs snippets={snippets(public_url)} />
      <Button onClick={onDone}>{say('done')}</Button>
    </Stack>
  )
}

const overlapHours = ['0', '1', '24', '168', '720'] as const

export function RotateToken({ token, isOpen, onClose, onDone }: Props & { token: Token }) {
  const say = useWords(words)
  const [secret, setSecret] = useState<string>()
  const [hours, setHours] = useState<(typeof overlapHours)[number]>('24')
  const { error, isBusy, run } = useAction()
  const close = () => {
    setSecret(undefined)
    onClose()
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const untilMs = Date.now() + Number(hours) * 3_600_000
    const body = hours === '0' ? {} : { old_until: new Date(untilMs).toISOString() }
    void run(async () => {
      const made = await ask<{ token: string }>('POST', `/tokens/${token.id}/rotate`, { body })
      setSecret(made.token)
      onDone()
    })
  }
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={say('rotate')}
      size="lg"
      closeOnClickOutside={false}
    >
      {secret === undefined ? (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">{say('rotate_text')}</Text>
            <Select
              label={say('overlap')}
              allowDeselect={false}
              data={overlapHours.map((value) => ({ value, label: say(`overlap_${value}`) }))}
              value={hours}
              onChange={(value) => setHours((value ?? '24') as typeof hours)}
            />
            <FormEnd error={error} isBusy={isBusy} submit={say('rotate')} onCancel={close} />
          </Stack>
        </form>
      ) : (
        <Secret secret={secret} onDone={close} />
      )}
    </Modal>
  )
}

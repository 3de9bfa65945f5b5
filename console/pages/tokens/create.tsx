// A new token, or a new secret for one: the form, then the secret, once, with code that uses it.
import { Alert, Button, Modal, Select, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { ConnectTabs } from '../../components/connect-tabs.tsx'
import { CopyBlock } from '../../components/copy.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import type { Token } from '../../lib/resources/token.ts'
import { TokenForm } from './form.tsx'
import { messages } from './messages.ts'

interface Props {
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function CreateToken({
  account,
  isOpen,
  onClose,
  onDone,
}: Props & {
  /** Chosen already. */
  account?: string
}) {
  const t = useMessages(messages)
  const [made, setMade] = useState<{ secret: string; models: readonly string[] }>()
  const close = () => {
    setMade(undefined)
    onClose()
  }
  return (
    <SecretModal
      isOpen={isOpen}
      onClose={close}
      title={t('new_token')}
      hasSecret={made !== undefined}
    >
      {made === undefined ? (
        <TokenForm
          {...(account !== undefined && { account })}
          onCancel={close}
          onDone={({ token, models }) => {
            if (token !== undefined) setMade({ secret: token, models: models ?? ['*'] })
            onDone()
          }}
        />
      ) : (
        <Secret {...made} onDone={close} />
      )}
    </SecretModal>
  )
}

/** A secret that is shown once leaves by its button alone, not by a key or a click beside it. */
function SecretModal({
  isOpen,
  onClose,
  title,
  hasSecret,
  children,
}: {
  isOpen: boolean
  onClose: () => void
  title: string
  hasSecret: boolean
  children: ReactNode
}) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={!hasSecret}
      withCloseButton={!hasSecret}
    >
      {children}
    </Modal>
  )
}

function Secret({
  secret,
  models,
  onDone,
}: {
  secret: string
  /** That it may call. */
  models: readonly string[]
  onDone: () => void
}) {
  const t = useMessages(messages)
  return (
    <Stack>
      <Alert color="yellow">{t('secret')}</Alert>
      <div className={privateClass}>
        <CopyBlock text={secret} label={t('secret')} />
      </div>
      <Text fw={600}>{t('connect')}</Text>
      <div className={privateClass}>
        <ConnectTabs secret={secret} models={models} />
      </div>
      <Button onClick={onDone}>{t('done')}</Button>
    </Stack>
  )
}

const overlapHours = ['0', '1', '24', '168', '720'] as const

export function RotateToken({ token, isOpen, onClose, onDone }: Props & { token: Token }) {
  const t = useMessages(messages)
  const [secret, setSecret] = useState<string>()
  const [hours, setHours] = useState<(typeof overlapHours)[number]>('24')
  const close = () => {
    setSecret(undefined)
    onClose()
  }
  const submit = async () => {
    const untilMs = Date.now() + Number(hours) * 3_600_000
    const body = hours === '0' ? {} : { previous_valid_until: new Date(untilMs).toISOString() }
    const made = await api<{ token: string }>('POST', `/tokens/${token.id}/rotate`, { body })
    setSecret(made.token)
    onDone()
  }
  return (
    <SecretModal
      isOpen={isOpen}
      onClose={close}
      title={t('rotate')}
      hasSecret={secret !== undefined}
    >
      {secret === undefined ? (
        <ActionForm submit={t('rotate')} onSubmit={submit} onCancel={close}>
          <Text size="sm">{t('rotate_text')}</Text>
          <Select
            label={t('overlap')}
            allowDeselect={false}
            data={overlapHours.map((value) => ({ value, label: t(`overlap_${value}`) }))}
            value={hours}
            onChange={(value) => setHours((value ?? '24') as typeof hours)}
          />
        </ActionForm>
      ) : (
        <Secret secret={secret} models={token.models} onDone={close} />
      )}
    </SecretModal>
  )
}

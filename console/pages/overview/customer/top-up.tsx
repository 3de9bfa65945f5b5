// How a customer adds money: what the operator says about it, and the field for a code.
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../../../components/page.tsx'
import { ApiError, api, isWebAddress } from '../../../lib/api.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { useSession } from '../../../lib/session.ts'
import { useAction } from '../../../lib/use-action.ts'
import { messages } from './messages.ts'

interface Redeemed {
  amount: string
  currency: string
  balance: string
}

/** Refusals that are about the code that was typed. */
const wrongCodes: Readonly<Record<number, 'no_code' | 'used_code'>> = {
  404: 'no_code',
  409: 'used_code',
}

export function TopUp() {
  const t = useMessages(messages)
  const { top_up } = useSession()
  const url = top_up?.url ?? undefined
  return (
    <Stack gap="sm">
      {top_up?.text != null && (
        <Text size="sm" className="lines">
          {top_up.text}
        </Text>
      )}
      {url !== undefined && isWebAddress(url) && (
        <div>
          <Button component="a" href={url} target="_blank" rel="noreferrer">
            {t('add_money')}
          </Button>
        </div>
      )}
      <Redeem />
    </Stack>
  )
}

function Redeem() {
  const t = useMessages(messages)
  const format = useFormat()
  const queryClient = useQueryClient()
  const { error, isBusy, run } = useAction()
  const [code, setCode] = useState('')
  const [redeemed, setRedeemed] = useState<Redeemed>()
  const wrong = error instanceof ApiError ? wrongCodes[error.status] : undefined
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setRedeemed(undefined)
    void run(async () => {
      const body = { code: code.trim() }
      setRedeemed(await api<Redeemed>('POST', '/codes/redeem', { body }))
      setCode('')
      await queryClient.invalidateQueries()
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Group align="flex-start" gap="xs">
          <TextInput
            flex={1}
            miw={180}
            maw={360}
            label={t('code')}
            required
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
            value={code}
            error={wrong === undefined ? undefined : t(wrong)}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={isBusy} mt={22}>
            {t('redeem')}
          </Button>
        </Group>
        {wrong === undefined && <ErrorAlert error={error} />}
        {redeemed !== undefined && (
          <Alert color="teal" role="status">
            {t('redeemed', {
              amount: format.exact(redeemed.amount, redeemed.currency),
              balance: format.money(redeemed.balance, redeemed.currency),
            })}
          </Alert>
        )}
      </Stack>
    </form>
  )
}

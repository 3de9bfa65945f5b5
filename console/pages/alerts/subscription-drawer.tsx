// One subscription: its settings, a test, and what was sent to it.
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { NoticeDelivery, Webhook } from '../../../src/admin/notices/webhook-schema.ts'
import { Final } from '../../components/confirm.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert, SectionTitle } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { Deliveries } from './deliveries.tsx'
import { messages } from './messages.ts'
import { minutesOf } from './rules.ts'
import { SubscriptionForm } from './subscription-form.tsx'

interface Props {
  webhook: Webhook
  onClose: () => void
  /** The list has changed. */
  onChanged: () => void
}

export function SubscriptionDrawer({
  webhook,
  ...props
}: Omit<Props, 'webhook'> & { webhook: Webhook | undefined }) {
  const t = useMessages(messages)
  return (
    <DetailsDrawer title={t('subscription')} isOpen={webhook !== undefined} onClose={props.onClose}>
      {webhook !== undefined && <Details key={webhook.id} webhook={webhook} {...props} />}
    </DetailsDrawer>
  )
}

const refetchMs = 3_000

function Details({ webhook, onClose, onChanged }: Props) {
  const t = useMessages(messages)
  const { id, disabled, source } = webhook
  const [form, setForm] = useState<'edit' | 'delete'>()
  const [tested, setTested] = useState<NoticeDelivery>()
  const { error, isBusy, run } = useAction()
  const deliveries = useList<NoticeDelivery>(`/webhooks/${id}/deliveries`, {}, refetchMs)
  const sendTest = () =>
    run(async () => {
      setTested(undefined)
      setTested(await api<NoticeDelivery>('POST', `/webhooks/${id}/test`))
      deliveries.refetch()
    })
  const toggle = () =>
    run(async () => {
      const set = (off: boolean) => api('PATCH', `/webhooks/${id}`, { body: { disabled: off } })
      await set(!disabled)
      offerUndo(t(disabled ? 'enabled_as' : 'disabled_as', { name: receiverOf(webhook) }), () =>
        set(disabled),
      )
      onChanged()
    })
  return (
    <Stack>
      <Group gap="xs">
        <Button loading={isBusy} onClick={sendTest}>
          {t('send_test')}
        </Button>
        {source === 'file' ? (
          <Text size="sm" c="dimmed">
            {t('file_owned')}
          </Text>
        ) : (
          <>
            <Button variant="default" onClick={() => setForm('edit')}>
              {t('edit')}
            </Button>
            <Button variant="default" onClick={toggle}>
              {t(disabled ? 'enable' : 'disable')}
            </Button>
            <Button variant="default" color="red" onClick={() => setForm('delete')}>
              {t('delete')}
            </Button>
          </>
        )}
      </Group>
      <ErrorAlert error={error} />
      {/* It may be delivered after the answer came. */}
      <TestOutcome tested={deliveries.rows.find((each) => each.id === tested?.id) ?? tested} />
      <Facts webhook={webhook} />
      <SectionTitle>{t('deliveries')}</SectionTitle>
      <Deliveries list={deliveries} />
      {form === 'edit' && (
        <Modal opened onClose={() => setForm(undefined)} title={t('edit_subscription')} size="xl">
          <SubscriptionForm
            webhook={webhook}
            onCancel={() => setForm(undefined)}
            onDone={() => {
              setForm(undefined)
              onChanged()
            }}
          />
        </Modal>
      )}
      {form === 'delete' && (
        <DeleteSubscription
          webhook={webhook}
          onCancel={() => setForm(undefined)}
          onDeleted={() => {
            onClose()
            onChanged()
          }}
        />
      )}
    </Stack>
  )
}

function TestOutcome({ tested }: { tested: NoticeDelivery | undefined }) {
  const t = useMessages(messages)
  const attempt = tested?.attempts.at(-1)
  const why =
    attempt?.error ??
    (attempt?.status === undefined ? t('no_attempt') : t('answered', { status: attempt.status }))
  return (
    <div role="status">
      {tested !== undefined && (
        <Alert color={tested.state === 'delivered' ? 'teal' : 'orange'}>
          {tested.state === 'delivered'
            ? t('test_good', { status: attempt?.status ?? 0 })
            : t(tested.state === 'failed' ? 'test_failed' : 'test_pending', { why })}
        </Alert>
      )}
    </div>
  )
}

function Facts({ webhook }: { webhook: Webhook }) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const { url, email, events, rules, disabled, source, created_at } = webhook
  const ruleText = (rule: Webhook['rules'][number]) =>
    t('rule_text', {
      of: t(rule.model === undefined ? 'channel' : 'model'),
      name: rule.model ?? rule.channel ?? '',
      above: format.percent(rule.above),
      over: minutesOf(rule),
      min: rule.min,
    })
  return (
    <PropertyList
      rows={[
        [t(url === null ? 'email' : 'url'), <span className={privateClass}>{url ?? email}</span>],
        [t('events'), events.map((type) => server.text('notice', type)).join(', ')],
        [t('rules'), rules.map(ruleText).join('; ')],
        [
          t('state'),
          <State
            state={disabled ? 'cancelled' : 'good'}
            label={t(disabled ? 'disabled' : 'enabled')}
          />,
        ],
        [t('source'), server.text('source', source)],
        [t('created'), <Time at={created_at} />],
      ]}
    />
  )
}

const receiverOf = ({ url, email, id }: Webhook): string => url ?? email ?? id

function DeleteSubscription({
  webhook,
  onCancel,
  onDeleted,
}: {
  webhook: Webhook
  onCancel: () => void
  onDeleted: () => void
}) {
  const t = useMessages(messages)
  const { error, isBusy, run } = useAction()
  const remove = () =>
    run(async () => {
      await api('DELETE', `/webhooks/${webhook.id}`)
      onDeleted()
    })
  return (
    <Modal opened onClose={onCancel} title={t('delete_title')}>
      <Stack>
        <Text size="sm">{t('delete_text', { receiver: receiverOf(webhook) })}</Text>
        <Final />
        <ErrorAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t('cancel')}
          </Button>
          <Button color="red" loading={isBusy} onClick={remove}>
            {t('delete_title')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

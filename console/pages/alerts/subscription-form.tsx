// The form of a subscription: where notices go, which ones, and rules for error rates.
import { Checkbox, SegmentedControl, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Webhook, WebhookWithSecret } from '../../../src/admin/notices/webhook-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { noticeTypes } from '../../lib/server/codes.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { type FormatDraft, FormatFields, formatBody, newFormat } from './format-fields.tsx'
import { messages } from './messages.ts'
import { RuleFields } from './rule-fields.tsx'
import { draftOf, newRule, type RuleDraft, ruleBody } from './rules.ts'

type EventType = Webhook['events'][number]
type Receiver = 'url' | 'email'

/** `test` is sent on request only. */
const eventTypes = Object.keys(noticeTypes).filter((type) => type !== 'test') as EventType[]

export function SubscriptionForm({
  webhook,
  onCancel,
  onDone,
}: {
  /** Absent: a new one. */
  webhook?: Webhook
  onCancel: () => void
  onDone: (made: WebhookWithSecret) => void
}) {
  const t = useMessages(messages)
  const [receiver, setReceiver] = useState<Receiver>(webhook?.email != null ? 'email' : 'url')
  const [address, setAddress] = useState(webhook?.url ?? webhook?.email ?? '')
  const [events, setEvents] = useState<readonly EventType[]>(webhook?.events ?? [])
  const [rules, setRules] = useState<readonly RuleDraft[]>(webhook?.rules.map(draftOf) ?? [])
  const [format, setFormat] = useState<FormatDraft>(newFormat)
  const isNewUrl = webhook === undefined && receiver === 'url'
  const hasRules = events.includes('error_rate')
  const submit = async () => {
    const body = {
      ...{ [receiver]: address.trim(), events },
      ...(isNewUrl && formatBody(format)),
      ...(hasRules ? { rules: rules.map(ruleBody) } : webhook !== undefined && { rules: [] }),
    }
    if (webhook === undefined) {
      return onDone(await api<WebhookWithSecret>('POST', '/webhooks', { body }))
    }
    const set = (to: object) =>
      api<WebhookWithSecret>('PATCH', `/webhooks/${webhook.id}`, { body: to })
    const changed = await set(body)
    const before = { events: webhook.events, rules: webhook.rules.map(draftOf).map(ruleBody) }
    offerUndo(t('saved_as', { name: address }), () =>
      set({ ...before, [receiver]: webhook[receiver] }),
    )
    onDone(changed)
  }
  const choose = (chosen: readonly EventType[]) => {
    setEvents(chosen)
    if (chosen.includes('error_rate') && rules.length === 0) setRules([newRule()])
  }
  return (
    <ActionForm
      submit={t(webhook === undefined ? 'create' : 'save')}
      onSubmit={submit}
      onCancel={onCancel}
    >
      {webhook === undefined && (
        <SegmentedControl
          aria-label={t('receiver')}
          data={[
            { value: 'url', label: t('by_url') },
            { value: 'email', label: t('by_email') },
          ]}
          value={receiver}
          onChange={(value) => {
            setReceiver(value as Receiver)
            setAddress('')
          }}
        />
      )}
      <TextInput
        label={t(receiver)}
        type={receiver}
        required
        data-autofocus
        placeholder={receiver === 'url' ? 'https://hooks.example/gateway' : 'ops@mail.example'}
        value={address}
        onChange={(event) => setAddress(event.currentTarget.value)}
      />
      {isNewUrl && <FormatFields draft={format} onChange={setFormat} />}
      <EventFields events={events} onChange={choose} />
      {hasRules && <RuleFields rules={rules} onChange={setRules} />}
    </ActionForm>
  )
}

function EventFields({
  events,
  onChange,
}: {
  events: readonly EventType[]
  onChange: (events: readonly EventType[]) => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <Checkbox.Group
      label={t('events')}
      required
      value={[...events]}
      onChange={(chosen) => onChange(chosen as EventType[])}
    >
      <Stack gap={0} mt={6}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
          {eventTypes.map((type) => (
            <Checkbox key={type} value={type} label={server.text('notice', type)} />
          ))}
        </SimpleGrid>
      </Stack>
    </Checkbox.Group>
  )
}

// Open alerts: what each means, where to act, and the button that resolves one.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Alert } from '../../../src/admin/system/system-schema.ts'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { useOpenAlerts } from '../../lib/open-alerts.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { ErrorAlert } from '../page.tsx'
import { State } from '../values.tsx'

const messages = defineMessages({
  no_alerts: ['No open alerts', '没有未处理的告警'],
  times: ['{n} times', '{n} 次'],
  resolve: ['Resolve', '处理完毕'],
  acknowledge: ['Acknowledge', '认领'],
  acknowledged: ['{name} looks after it, {when}', '{name} 于{when}认领'],
  recurred: ['Occurred again {when}, after it was acknowledged', '认领后于{when}再次发生'],
  set_price: ['Set price', '设置价格'],
  open_channel: ['Open channel', '查看渠道'],
  open_requests: ['Requests', '查看请求'],
  open_tasks: ['Failed tasks', '查看失败任务'],
  open_margins: ['Margins', '查看毛利'],
})

interface Remedy {
  label: 'set_price' | 'open_channel' | 'open_requests' | 'open_tasks'
  to(subject: string): string
}

/** Where the cause of an alert is removed; it is resolved by that, and cannot be dismissed before. */
const remedies: Readonly<Record<string, Remedy>> = {
  missing_price: { label: 'set_price', to: (model) => `/prices?${queryOf({ open: model })}` },
  channel_down: { label: 'open_channel', to: (id) => `/channels?${queryOf({ open: id })}` },
  // 'model NAME' or 'channel NAME'
  error_rate: {
    label: 'open_requests',
    to: (subject) => {
      const [, of = '', name = ''] = /^(\w+) (.*)$/s.exec(subject) ?? []
      return `/requests?${queryOf({ [of]: name })}`
    },
  },
  // 'MODEL CHANNEL'
  task_failures: {
    label: 'open_tasks',
    to: (subject) => {
      const [model = '', channel = ''] = subject.split(' ')
      return `/tasks?${queryOf({ state: 'failed', model, channel })}`
    },
  },
}

export function remedyOf({
  kind,
  subject,
}: Alert): { label: Remedy['label']; path: string } | undefined {
  const remedy = Object.hasOwn(remedies, kind) ? remedies[kind] : undefined
  return remedy && { label: remedy.label, path: remedy.to(subject) }
}

/** Where more of it is seen; resolving it is left to people. */
const seenAt: Readonly<Record<string, { label: 'open_margins'; path: string }>> = {
  'margin.negative': { label: 'open_margins', path: '/margins?group=model&days=7' },
}

const queryOf = (values: Record<string, string>): string => new URLSearchParams(values).toString()

export function OpenAlerts({ limit }: { limit: number }) {
  const t = useMessages(messages)
  const action = useAction()
  const { data, error, refetch } = useOpenAlerts()
  const ask = ({ id }: Alert, what: 'resolve' | 'acknowledge') =>
    action.run(async () => {
      await api('POST', `/alerts/${id}/${what}`)
      await refetch()
    })
  if (data?.items.length === 0) return <Text c="dimmed">{t('no_alerts')}</Text>
  return (
    <Stack gap="md">
      <ErrorAlert error={action.error ?? error} />
      {data?.items.slice(0, limit).map((alert) => (
        <OpenAlert key={alert.id} alert={alert} onAsk={(what) => ask(alert, what)} />
      ))}
    </Stack>
  )
}

function OpenAlert({
  alert,
  onAsk,
}: {
  alert: Alert
  onAsk: (what: 'resolve' | 'acknowledge') => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const session = useSession()
  const remedy = remedyOf(alert)
  const shownAt = remedy ?? seenAt[alert.kind]
  const when = format.ago(alert.since)
  return (
    <div>
      <Group justify="space-between" wrap="nowrap">
        <State
          state={alert.kind === 'books' ? 'failed' : 'unknown'}
          label={server.text('alert', alert.kind)}
        />
        <Text size="xs" c="dimmed">
          {alert.times > 1 ? `${when} · ${t('times', { n: alert.times })}` : when}
        </Text>
      </Group>
      <Text size="sm">{server.text('alert_advice', alert.kind, '')}</Text>
      <Text size="sm" c="dimmed" className="sentence" style={{ overflowWrap: 'anywhere' }}>
        {server.sentence(alert.message)}
      </Text>
      {alert.recurred_at !== null && (
        <Text size="sm" fw={600}>
          {t('recurred', { when: format.ago(alert.recurred_at) })}
        </Text>
      )}
      <Group gap="xs" mt={4}>
        {shownAt !== undefined && (
          <Text size="sm" component="span">
            <Link to={shownAt.path}>{t(shownAt.label)}</Link>
          </Text>
        )}
        {session.role === 'administrator' && remedy === undefined && (
          <Button size="compact-xs" variant="default" onClick={() => onAsk('resolve')}>
            {t('resolve')}
          </Button>
        )}
        {alert.acknowledged_at === null ? (
          <Button size="compact-xs" variant="default" onClick={() => onAsk('acknowledge')}>
            {t('acknowledge')}
          </Button>
        ) : (
          <Text size="xs" c="dimmed">
            {t('acknowledged', {
              name: alert.acknowledged_by ?? '',
              when: format.ago(alert.acknowledged_at),
            })}
          </Text>
        )}
      </Group>
    </div>
  )
}

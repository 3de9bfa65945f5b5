// What is wrong, on top of the overview: channels that are down, with the last error and the button that
// takes them out, and other open alerts.
import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Alert } from '../../../src/admin/system/system-schema.ts'
import { remedyOf } from '../../components/alerts/open-alerts.tsx'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { State } from '../../components/values.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useOpenAlerts } from '../../lib/open-alerts.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { LoggedRequest } from '../../lib/resources/request.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { useChannels } from './channel-list.ts'
import { messages } from './messages.ts'

/** The others are a click away. */
const maxShown = 3

export function Problems() {
  const t = useMessages(messages)
  const { data } = useOpenAlerts()
  const mayAct = hasRole(useSession(), ['operator'])
  const channels = useChannels(mayAct).data?.items ?? []
  const [takenOut, setTakenOut] = useState<readonly string[]>([])
  const alerts = data?.items ?? []
  const out = channels.filter(({ id, disabled }) => disabled && takenOut.includes(id))
  const lasting = alerts.filter(({ subject }) => out.every(({ id }) => id !== subject))
  const rest = lasting.length - maxShown
  if (lasting.length === 0 && out.length === 0) {
    return data === undefined ? null : <State state="good" label={t('no_alerts')} />
  }
  return (
    <section className="problems" aria-label={t('problems')}>
      {lasting.slice(0, maxShown).map((alert) => (
        <Problem
          key={alert.id}
          alert={alert}
          channel={channels.find(({ id }) => id === alert.subject)}
          onTakenOut={(id) => setTakenOut([...takenOut, id])}
        />
      ))}
      {out.map((channel) => (
        <Line key={channel.id} text={t('taken_out', { name: channel.name })}>
          <SwitchButton channel={channel} label={t('bring_back')} isDisabled={false} />
        </Line>
      ))}
      {rest > 0 && <Link to="/alerts">{t('more_alerts', { n: rest })}</Link>}
    </section>
  )
}

const Line = ({ text, children }: { text: ReactNode; children: ReactNode }) => (
  <div className="problem">
    <Icon name="alerts" />
    <p>{text}</p>
    {children}
  </div>
)

function Problem({
  alert,
  channel,
  onTakenOut,
}: {
  alert: Alert
  channel: Channel | undefined
  onTakenOut: (id: string) => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const remedy = remedyOf(alert)
  const text =
    alert.kind === 'channel_down' && channel !== undefined ? (
      <ChannelDown alert={alert} channel={channel} />
    ) : (
      <>
        <b>{server.text('alert', alert.kind)}:</b> {server.sentence(alert.message)}
      </>
    )
  return (
    <Line text={text}>
      <Link to={remedy?.path ?? '/alerts'}>{t('open')}</Link>
      {channel?.source === 'api' && !channel.disabled && (
        <SwitchButton
          channel={channel}
          label={t('take_out')}
          isDisabled
          onDone={() => onTakenOut(channel.id)}
        />
      )}
    </Line>
  )
}

/** The last error of an attempt on it says more than that its calls fail. */
function ChannelDown({ alert, channel }: { alert: Alert; channel: Channel }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { data } = useResource<Page<LoggedRequest>>('/requests', {
    query: { channel: channel.name, limit: 20 },
  })
  const failed = data?.items
    .flatMap(({ attempts }) => attempts?.toReversed() ?? [])
    .find((attempt) => attempt.channel === channel.name && attempt.error !== undefined)
  const why = channel.health.reason === 'keys_rejected' ? t('keys_rejected') : t('calls_fail')
  return (
    <>
      <b>{t('down_since', { name: channel.name, time: format.minute(alert.since) })}</b>{' '}
      {failed?.error ?? why}
    </>
  )
}

function SwitchButton({
  channel,
  label,
  isDisabled,
  onDone,
}: {
  channel: Channel
  label: string
  /** What it becomes. */
  isDisabled: boolean
  onDone?: () => void
}) {
  const queryClient = useQueryClient()
  const { error, isBusy, run } = useAction()
  const change = () =>
    run(async () => {
      const set = (disabled: boolean) =>
        api('PATCH', `/channels/${channel.id}`, { body: { disabled } })
      await set(isDisabled)
      offerUndo(`${channel.name}: ${label}`, () => set(!isDisabled))
      onDone?.()
      await queryClient.invalidateQueries()
    })
  return (
    <>
      <Button variant="default" size="xs" loading={isBusy} onClick={change}>
        {label}
      </Button>
      <ErrorAlert error={error} />
    </>
  )
}

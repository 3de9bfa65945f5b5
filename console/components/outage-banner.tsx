// On top of the page while the gateway does not answer: since when, and when it is asked again. What was
// loaded before stays on the page.
import { Button } from '@mantine/core'
import { tryNow, useOutage } from '../lib/connection.ts'
import { useFormat } from '../lib/format.ts'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { useNow } from '../lib/use-now.ts'
import { Icon } from './icon.tsx'

const messages = defineMessages({
  down: ['The gateway does not answer.', '网关没有响应。'],
  next: ['Trying again in {n} s.', '{n} 秒后重试。'],
  trying: ['Trying again…', '正在重试…'],
  stale: ['What you see is of {time}.', '当前显示的是 {time} 的数据。'],
  now: ['Try now', '立即重试'],
})

export function OutageBanner({ hasData = true }: { hasData?: boolean }) {
  const outage = useOutage()
  return outage === undefined ? null : <Banner {...outage} hasData={hasData} />
}

function Banner({
  sinceMs,
  nextMs,
  hasData,
}: {
  sinceMs: number
  nextMs: number | undefined
  hasData: boolean
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const nowMs = useNow(500)
  const seconds = nextMs === undefined ? 0 : Math.max(1, Math.ceil((nextMs - nowMs) / 1_000))
  return (
    <section className="outage" aria-label={t('down')}>
      <Icon name="health" />
      <p>
        <b role="status">{t('down')}</b>{' '}
        {nextMs === undefined ? t('trying') : t('next', { n: seconds })}{' '}
        {hasData && t('stale', { time: format.clock(new Date(sinceMs).toISOString()) })}
      </p>
      <Button variant="default" onClick={() => void tryNow()}>
        {t('now')}
      </Button>
    </section>
  )
}

// Why calls of a channel failed last, with their times; each leads to its request.
import { Text } from '@mantine/core'
import type { Page } from '../../lib/api.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import type { LoggedRequest } from '../../lib/resources/request.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useResource } from '../../lib/use-resource.ts'
import { ErrorAlert, SectionTitle } from '../page.tsx'
import { Time } from '../values.tsx'

const messages = defineMessages({
  last_errors: ['Last errors', '最近的错误'],
  no_errors: ['No failed attempt in the log.', '日志中没有失败的尝试。'],
})

const maxShown = 5
/** Requests that failed in the end; attempts that another channel made good stand in those of the newest. */
const sought = 50
const refetchMs = 15_000

export function LastErrors({ channel }: { channel: string }) {
  const t = useMessages(messages)
  const server = useServerText()
  const list = (query: Record<string, string>) => ({
    query: { limit: sought, ...query },
    refetchInterval: refetchMs,
  })
  const failed = useResource<Page<LoggedRequest>>('/requests', list({ channel, status: '5xx' }))
  const newest = useResource<Page<LoggedRequest>>('/requests', list({}))
  const rows = [...(failed.data?.items ?? []), ...(newest.data?.items ?? [])]
  const shown = errorsOf(rows, channel).slice(0, maxShown)
  if (failed.data === undefined) return <ErrorAlert error={failed.error} />
  return (
    <section aria-label={t('last_errors')}>
      <SectionTitle>{t('last_errors')}</SectionTitle>
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('no_errors')}
        </Text>
      )}
      {shown.map(({ id, at, text }) => (
        <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Link to={`/requests?open=${id}`}>
            <Time at={at} how="ago" />
          </Link>{' '}
          {/* A code in words; other texts as they came. */}
          {server.text('error', text)}
        </Text>
      ))}
    </section>
  )
}

/** The newest first, one for each request. */
function errorsOf(rows: readonly LoggedRequest[], channel: string) {
  const found = new Map<string, { id: string; at: string; text: string }>()
  for (const { request_id: id, at, attempts, error } of rows) {
    const attempt = attempts?.findLast(
      (each) => each.channel === channel && each.error !== undefined,
    )
    const text = attempt?.error ?? (attempts === undefined ? error : undefined)
    if (text != null) found.set(id, { id, at, text })
  }
  return [...found.values()].toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

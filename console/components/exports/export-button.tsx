// Starts the export of a list with its current filters, shows its progress and offers the file. The
// export continues without this page; the page Exports lists it, too.
import { ActionIcon, Button, Group, Menu, Progress, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Query } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import {
  deleteExport,
  type ExportJob,
  type ExportKind,
  fileOf,
  isUnfinished,
  shareOf,
  useBeginExport,
  useExport,
} from '../../lib/resources/export.ts'
import { Link } from '../../lib/router.tsx'
import { Icon } from '../icon.tsx'
import { ErrorAlert } from '../page.tsx'
import { exportMessages } from './messages.ts'

const formats = ['csv', 'jsonl'] as const

export function ExportButton({
  kind,
  filters = {},
  label,
  size = 'sm',
}: {
  kind: ExportKind
  /** As the list is asked for them. */
  filters?: Query
  label?: string
  size?: 'xs' | 'sm'
}) {
  const t = useMessages(exportMessages)
  const [id, setId] = useState<string>()
  const begin = useBeginExport(kind, filters)
  const { data: job, error } = useExport(id)
  if (job !== undefined && id !== undefined) {
    return <Begun job={job} size={size} onClose={() => setId(undefined)} />
  }
  return (
    <Stack gap={4}>
      <Menu withinPortal>
        <Menu.Target>
          <Button
            variant="default"
            size={size}
            leftSection={<Icon name="download" size={16} />}
            loading={begin.isPending}
          >
            {label ?? t('export')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {formats.map((format) => (
            <Menu.Item
              key={format}
              onClick={() => begin.mutate(format, { onSuccess: (made) => setId(made.id) })}
            >
              {t(format)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ErrorAlert error={begin.error ?? error} />
    </Stack>
  )
}

function Begun({ job, size, onClose }: { job: ExportJob; size: 'xs' | 'sm'; onClose: () => void }) {
  const t = useMessages(exportMessages)
  const close = () => {
    if (isUnfinished(job)) void deleteExport(job.id).catch(() => undefined)
    onClose()
  }
  return (
    <Group gap="xs" wrap="nowrap" role="status">
      {job.state === 'done' ? (
        <Button
          component="a"
          size={size}
          href={fileOf(job)}
          download
          leftSection={<Icon name="download" size={16} />}
        >
          {t('download')}
        </Button>
      ) : (
        <Stack gap={2} miw={150}>
          <ExportProgress job={job} />
          <Link to="/exports">
            <Text size="xs">{t('all')}</Text>
          </Link>
        </Stack>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t(isUnfinished(job) ? 'stop' : 'dismiss')}
        onClick={close}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
    </Group>
  )
}

/** A progress bar while the total is known, and the number of rows. */
export function ExportProgress({ job }: { job: ExportJob }) {
  const t = useMessages(exportMessages)
  const format = useFormat()
  const share = shareOf(job)
  const rows = format.number(job.rows)
  if (job.state === 'failed') {
    return (
      <Text size="sm" c="red">
        {t('failed', { reason: job.error ?? '' })}
      </Text>
    )
  }
  return (
    <>
      {isUnfinished(job) && (
        <Progress
          value={(share ?? 0.05) * 100}
          animated={share === undefined}
          aria-label={t('running')}
        />
      )}
      <Text size="xs">
        {isUnfinished(job) && job.rows_total !== null
          ? t('of', { rows, total: format.number(job.rows_total) })
          : t('so_far', { rows })}
        {job.limit_reached && ` · ${t('cut')}`}
      </Text>
    </>
  )
}

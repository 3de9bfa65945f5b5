// The links to a bill that work: who created each, where it was sent, until when, and how to revoke it.
import { Button, Stack, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { BillLink } from '../../../src/admin/closing/closing-schema.ts'
import { Confirm } from '../../components/confirm.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

const path = '/bills/links'

/** Reads the lists of links again. */
export function useLinksChanged(): () => void {
  const queryClient = useQueryClient()
  return () => void queryClient.invalidateQueries({ queryKey: ['resource', path] })
}

export function BillLinks({ account, month }: { account: string; month: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const onChanged = useLinksChanged()
  const { data, error: unread } = useResource<Page<BillLink>>(path, { query: { account, month } })
  const [leaving, setLeaving] = useState<BillLink>()
  const rows = data?.items ?? []
  if (rows.length === 0) return <ErrorAlert error={unread} />
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t('links')}
      </Title>
      <SimpleTable
        label={t('links')}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            title: t('link_by'),
            isPrivate: true,
            cell: ({ created_by }) => created_by ?? t('link_by_operator'),
          },
          { title: t('link_sent'), isPrivate: true, cell: ({ emailed_to }) => emailed_to ?? '–' },
          { title: t('link_until'), cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            title: '',
            align: 'right',
            cell: (row) => (
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                aria-label={t('revoke_link', { when: format.time(row.created_at) })}
                onClick={() => setLeaving(row)}
              >
                {t('revoke')}
              </Button>
            ),
          },
        ]}
      />
      <Confirm
        title={t('revoke_title')}
        text={t('revoke_text')}
        action={t('revoke_title')}
        keep={t('keep_link')}
        isFinal
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        onConfirm={() => api('DELETE', `${path}/${leaving!.id}`).finally(onChanged)}
      />
    </Stack>
  )
}

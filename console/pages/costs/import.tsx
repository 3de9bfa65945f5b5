// Costs from a file: what it would change first, then all of it or nothing.
import { Button, FileInput, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { usePriceText } from '../../components/billing/price-terms.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { CostImport as Imported } from '../../lib/resources/cost.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

interface Props {
  onClose: () => void
  onDone: () => void
}

export function ImportCosts({ onClose, onDone }: Props) {
  const t = useMessages(messages)
  const [file, setFile] = useState<File | null>(null)
  const [plan, setPlan] = useState<{ yaml: string; outcome: Imported }>()
  const review = async () => {
    const yaml = (await file?.text()) ?? ''
    const outcome = await api<Imported>('POST', '/costs/import', { body: { yaml, dry_run: true } })
    setPlan({ yaml, outcome })
  }
  return (
    <Modal opened onClose={onClose} title={t('import')} size="xl" closeOnClickOutside={false}>
      {plan === undefined ? (
        <ActionForm submit={t('review')} onSubmit={review} onCancel={onClose}>
          <Text size="sm">{t('import_hint')}</Text>
          <FileInput
            label={t('file')}
            placeholder={t('choose_file')}
            accept=".yaml,.yml,.json"
            required
            value={file}
            onChange={setFile}
          />
        </ActionForm>
      ) : (
        <Review {...plan} onClose={onClose} onDone={onDone} />
      )}
    </Modal>
  )
}

/** Rows that are shown; all are saved. */
const maxRows = 300

function Review({ yaml, outcome, onClose, onDone }: Props & { yaml: string; outcome: Imported }) {
  const t = useMessages(messages)
  const termsText = usePriceText()
  const { error, isBusy, run } = useAction()
  const { added, unchanged, items } = outcome
  const save = async () => {
    const isSaved = await run(() => api('POST', '/costs/import', { body: { yaml } }))
    if (!isSaved) return
    onDone()
    onClose()
  }
  return (
    <Stack>
      <Text size="sm">{t('counts', { added, unchanged })}</Text>
      <SimpleTable
        label={t('changes')}
        minWidth={560}
        maxHeight="50vh"
        rows={items.filter((each) => each.outcome === 'added').slice(0, maxRows)}
        rowKey={({ id }) => id}
        columns={[
          { title: t('channel'), cell: ({ channel }) => channel },
          { title: t('model'), cell: ({ model }) => model },
          { title: t('terms'), cell: (each) => termsText(each, each.currency) },
          { title: t('effective_from'), cell: (each) => <Time at={each.effective_from} /> },
        ]}
      />
      <ErrorAlert error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button disabled={added === 0} loading={isBusy} onClick={() => void save()}>
          {t('save')}
        </Button>
      </Group>
    </Stack>
  )
}

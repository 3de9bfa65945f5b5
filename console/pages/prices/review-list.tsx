// A list of prices before it is saved: what each line changes, what last month would have cost, and
// then all of it or nothing.
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Change, Terms } from '../../components/billing/price-terms.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import {
  changesOf,
  type Imported,
  type Price,
  type PriceList,
  termsOf,
} from '../../lib/resources/price.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'
import { PreviewButton } from './preview.tsx'

export function ReviewList({
  list,
  versions,
  onSaved,
  onCancel,
}: {
  list: PriceList
  /** What is in force now. */
  versions: readonly Price[]
  onSaved: (done: Imported) => void
  onCancel: () => void
}) {
  const t = useMessages(messages)
  const { error, isBusy, run } = useAction()
  const trial = useQuery({
    queryKey: ['price-trial', list],
    queryFn: () => api<Imported>('POST', '/prices/import', { body: { ...list, dry_run: true } }),
    retry: false,
    gcTime: 0,
  })
  const save = () =>
    run(async () => onSaved(await api<Imported>('POST', '/prices/import', { body: list })))
  const { data: outcome } = trial
  return (
    <Stack>
      <ErrorAlert error={trial.error} />
      {outcome !== undefined && (
        <>
          <Text size="sm">
            {t('counts', { added: outcome.added, unchanged: outcome.unchanged })}
            {outcome.superseded > 0 && ` ${t('superseded_count', { n: outcome.superseded })}`}
            {outcome.models_added > 0 && ` ${t('models_added', { n: outcome.models_added })}`}
          </Text>
          <ChangeTable outcome={outcome} versions={versions} />
          {outcome.added > 0 && <PreviewButton drafts={() => ({ ...list })} />}
        </>
      )}
      <ErrorAlert error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
        <Button
          disabled={outcome === undefined || outcome.added === 0}
          loading={isBusy}
          onClick={() => void save()}
        >
          {t('activate')}
        </Button>
      </Group>
    </Stack>
  )
}

/** Rows that are shown; all are saved. */
const maxRows = 300

/** The largest change of an amount comes first, what is new last. */
function sizeOf(item: Item, before: Price | undefined): number {
  if (before === undefined) return 0
  return Math.max(
    0,
    ...changesOf(termsOf(before), termsOf(item)).map(({ share }) => Math.abs(share)),
  )
}

/** Lines that change nothing are counted, not shown. */
function ChangeTable({ outcome, versions }: { outcome: Imported; versions: readonly Price[] }) {
  const t = useMessages(messages)
  const inForce = new Map(
    versions.flatMap((price) => (price.current ? [[keyOf(price), price] as const] : [])),
  )
  const currentOf = (item: Item) => inForce.get(keyOf(item))
  const items = outcome.items
    .filter((item) => item.outcome !== 'unchanged')
    .map((item) => ({ item, size: sizeOf(item, currentOf(item)) }))
    .sort((a, b) => b.size - a.size || (a.item.model < b.item.model ? -1 : 1))
    .map(({ item }) => item)
  if (items.length === 0) return null
  return (
    <>
      <SimpleTable
        label={t('changes')}
        minWidth={640}
        maxHeight="50vh"
        rows={items.slice(0, maxRows)}
        rowKey={({ line }) => String(line)}
        columns={[
          { title: t('model'), cell: (item) => <ModelCell item={item} /> },
          { title: t('for_account'), cell: ({ account }) => account ?? t('all_accounts') },
          { title: t('before'), cell: (item) => <TermsOrNone price={currentOf(item)} /> },
          { title: t('after'), cell: (item) => <AfterCell item={item} before={currentOf(item)} /> },
          { title: t('effective_from'), cell: (item) => <Time at={item.effective_from} /> },
        ]}
      />
      {items.length > maxRows && (
        <Text size="sm" c="dimmed">
          {t('more_rows', { n: items.length - maxRows })}
        </Text>
      )}
    </>
  )
}

const keyOf = ({ model, account }: Pick<Item, 'model' | 'account'>) => `${model} ${account ?? ''}`

type Item = Imported['items'][number]

function ModelCell({ item: { model, outcome } }: { item: Item }) {
  const t = useMessages(messages)
  return (
    <>
      {model}{' '}
      {outcome === 'superseded' && (
        <Badge variant="light" color="gray" radius="sm">
          {t('superseded')}
        </Badge>
      )}
    </>
  )
}

const TermsOrNone = ({ price }: { price: Price | undefined }) =>
  price === undefined ? '–' : <Terms price={price} />

const AfterCell = ({ item, before }: { item: Item; before: Price | undefined }) => (
  <>
    <Terms price={item} />
    {before !== undefined && <Change before={before} after={item} />}
  </>
)

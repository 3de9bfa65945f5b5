// Many prices at once: first what is wanted, then the list to review, then what was saved; and prices
// changed by a percentage.
import { Alert, Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { useTimeZone, zoneText } from '../../lib/format/time-zone.ts'
import { useMessages } from '../../lib/messages.ts'
import {
  type Imported,
  type Price,
  type PriceList,
  raisedTerms,
  startOf,
  termsOf,
} from '../../lib/resources/price.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'
import { ReviewList } from './review-list.tsx'

export interface BulkProps {
  versions: readonly Price[]
  isOpen: boolean
  onClose: () => void
  onSaved: () => void
}

export function AdjustPrices(props: BulkProps) {
  const t = useMessages(messages)
  const [percent, setPercent] = useState('')
  const [models, setModels] = useState<string[]>([])
  const [from, setFrom] = useState('')
  const [zone] = useTimeZone()
  const inForce = props.versions.filter(
    ({ current, account, source, unit }) =>
      current && account === null && source !== 'file' && unit !== 'default',
  )
  const chosen =
    models.length === 0 ? inForce : inForce.filter(({ model }) => models.includes(model))
  const drafts = chosen.map((price) => ({
    model: price.model,
    terms: raisedTerms(termsOf(price), percent),
  }))
  const isWrong = percent !== '' && drafts.some(({ terms }) => terms === undefined)
  return (
    <Bulk
      {...props}
      title={t('raise')}
      onReset={() => setPercent('')}
      canGoOn={percent !== '' && !isWrong && drafts.length > 0}
      makeList={async () => ({
        // JSON is YAML, too.
        format: 'yaml',
        text: JSON.stringify(
          {
            prices: drafts.map(({ model, terms }) => ({ model, ...terms, ...startOf(from, zone) })),
          },
          null,
          1,
        ),
      })}
    >
      <Text size="sm">{t('raise_hint')}</Text>
      <TextInput
        label={t('percent')}
        required
        data-autofocus
        inputMode="decimal"
        placeholder="5"
        value={percent}
        error={isWrong ? t('percent_wrong') : undefined}
        onChange={(event) => setPercent(event.currentTarget.value.trim())}
      />
      <MultiSelect
        label={t('which_models')}
        placeholder={models.length === 0 ? t('all_models', { n: inForce.length }) : ''}
        data={inForce.map(({ model }) => model).sort()}
        searchable
        value={models}
        onChange={setModels}
      />
      <TextInput
        label={`${t('effective')} · ${zoneText(zone)}`}
        type="datetime-local"
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
    </Bulk>
  )
}

/** First what is wanted, then what it would do. */
export function Bulk({
  title,
  versions,
  isOpen,
  canGoOn,
  makeList,
  onReset,
  onClose,
  onSaved,
  remarks,
  children,
}: BulkProps & {
  title: string
  canGoOn: boolean
  makeList: () => Promise<PriceList>
  onReset: () => void
  /** About the list, above it. */
  remarks?: React.ReactNode
  children: React.ReactNode
}) {
  const t = useMessages(messages)
  const [list, setList] = useState<PriceList>()
  const { error, isBusy, run } = useAction()
  const [done, setDone] = useState<Imported>()
  const close = () => {
    setList(undefined)
    setDone(undefined)
    onReset()
    onClose()
  }
  const goOn = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => setList(await makeList()))
  }
  return (
    <Modal opened={isOpen} onClose={close} title={title} size="xl">
      {done !== undefined ? (
        <Stack>
          <Alert color="teal" role="status">
            {t('saved', { n: done.added })}
          </Alert>
          <Group justify="flex-end">
            <Button onClick={close}>{t('close')}</Button>
          </Group>
        </Stack>
      ) : list !== undefined ? (
        <Stack>
          {remarks}
          <ReviewList
            list={list}
            versions={versions}
            onCancel={() => setList(undefined)}
            onSaved={(outcome) => {
              setDone(outcome)
              onSaved()
            }}
          />
        </Stack>
      ) : (
        <form onSubmit={goOn}>
          <Stack>
            {children}
            <ErrorAlert error={error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t('cancel')}
              </Button>
              <Button type="submit" disabled={!canGoOn} loading={isBusy}>
                {t('show_changes')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

// One model: its price versions, and a new one with a preview against last month.

import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { Change, SourceBadge, Terms } from '../../components/billing/price-terms.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { PriceHours } from '../../components/price-hours/index.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import {
  type Model,
  type Price,
  restorePrice,
  versionBefore,
  withdrawPrice,
} from '../../lib/resources/price.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { NewVersion } from './new-version.tsx'

export function ModelDrawer({
  model,
  prices,
  onClose,
  onChanged,
}: {
  model: Model | undefined
  /** Of all models. */
  prices: readonly Price[]
  onClose: () => void
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const session = useSession()
  const server = useServerText()
  const [asked, setAsked] = useQueryValue('new')
  const isAdding = asked !== undefined
  const [leaving, setLeaving] = useState<Price>()
  const setAdding = (on: boolean) => setAsked(on ? '1' : undefined, 'replace')
  if (model === undefined) return null
  const versions = prices.filter((price) => price.model === model.name)
  const currentPrices = prices.filter((price) => price.current && price.account === null)
  const current = currentPrices.find((price) => price.model === model.name)
  return (
    <DetailsDrawer
      title={model.name}
      isOpen
      onClose={onClose}
      isLocked={leaving !== undefined}
      actions={
        hasRole(session, ['finance']) &&
        current?.source !== 'file' && (
          <Button onClick={() => setAdding(!isAdding)}>{t('new_version')}</Button>
        )
      }
    >
      <Stack>
        <PropertyList
          rows={[
            [t('kind'), server.text('model', model.kind)],
            [t('interfaces'), model.interfaces.join(', ')],
            [t('callable'), t(model.callable ? 'yes' : 'no')],
            [t('because'), model.unavailable_reason && server.sentence(model.unavailable_reason)],
            [t('price'), current && <Terms price={current} />],
            [t('hours'), current?.hours && <PriceHours hours={current.hours} />],
            [t('source'), current && <SourceBadge source={current.source} />],
            ['', current?.source === 'file' ? t('from_file') : undefined],
          ]}
        />
        {isAdding && (
          <NewVersion
            model={model}
            current={current}
            others={currentPrices.filter((price) => price.model !== model.name)}
            onDone={() => {
              setAdding(false)
              onChanged()
            }}
          />
        )}
        <SectionTitle>{t('versions')}</SectionTitle>
        <Versions versions={versions} onWithdraw={setLeaving} />
      </Stack>
      <Withdraw price={leaving} onClose={() => setLeaving(undefined)} onDone={onChanged} />
    </DetailsDrawer>
  )
}

function Withdraw({
  price,
  onClose,
  onDone,
}: {
  price: Price | undefined
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const text = { model: price?.model ?? '', day: format.time(price?.effective_from) }
  return (
    <Confirm
      title={t('withdraw_title')}
      text={t('withdraw_text', text)}
      action={t('withdraw_title')}
      keep={t('keep_price')}
      isOpen={price !== undefined}
      onClose={onClose}
      onConfirm={async () => {
        await withdrawPrice(price!)
        offerUndo(t('withdrawn_many', { n: 1 }), () => restorePrice(price!))
        onDone()
      }}
    />
  )
}

const stateTones = { scheduled: 'queued', in_force: 'good', past: 'past' } as const

/** Newest first, with what each changed. */
function Versions({
  versions,
  onWithdraw,
}: {
  versions: readonly Price[]
  onWithdraw: (price: Price) => void
}) {
  const t = useMessages(messages)
  const newest = [...versions].sort((a, b) => (a.effective_from < b.effective_from ? 1 : -1))
  const mayWithdraw = hasRole(useSession(), ['finance'])
  return (
    <SimpleTable
      label={t('versions')}
      minWidth={680}
      rows={newest}
      rowKey={({ id }) => id}
      columns={[
        { title: t('effective_from'), cell: (price) => <Time at={price.effective_from} /> },
        {
          title: t('for_account'),
          cell: ({ account }) =>
            account === null ? t('all_accounts') : <span className={privateClass}>{account}</span>,
        },
        {
          title: t('price'),
          cell: (price) => <VersionTerms price={price} before={versionBefore(price, versions)} />,
        },
        { title: t('source'), cell: ({ source }) => <SourceBadge source={source} /> },
        {
          title: t('author'),
          isPrivate: true,
          cell: ({ created_by }) => created_by ?? '–',
        },
        {
          title: t('state'),
          cell: ({ state }) => <State state={stateTones[state]} label={t(state)} />,
        },
        mayWithdraw && {
          title: '',
          cell: (price) =>
            price.state === 'scheduled' &&
            price.source === 'api' && (
              <Button size="compact-xs" variant="default" onClick={() => onWithdraw(price)}>
                {t('withdraw')}
              </Button>
            ),
        },
      ]}
    />
  )
}

const VersionTerms = ({ price, before }: { price: Price; before: Price | undefined }) => (
  <Group gap="xs" align="flex-start">
    <Terms price={price} />
    {before !== undefined && <Change before={before} after={price} />}
  </Group>
)

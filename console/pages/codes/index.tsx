// Codes for credit: those that were made, newest first, who redeemed them, and new ones.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useFlag } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { CreateCodes } from './create.tsx'
import { messages } from './messages.ts'

interface CodeRow {
  id: string
  amount: string
  state: 'open' | 'redeemed' | 'expired'
  account: string | null
  redeemed_at: string | null
  expires_at: string | null
  note: string | null
  created_by: string
  created_at: string
}

const tones = { open: 'open', redeemed: 'good', expired: 'cancelled' } as const

export default function Codes() {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const list = useList<CodeRow>('/codes')
  const [isCreating, setCreating] = useFlag('new')
  const [leaving, setLeaving] = useState<CodeRow>()
  const columns = useColumns(setLeaving)
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={<Button onClick={() => setCreating(true)}>{t('new_codes')}</Button>}
    >
      <ListTable
        label={t('title')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        isFlat
        empty={<EmptyState icon="codes" text={t('empty')} />}
      />
      {isCreating && <CreateCodes onClose={() => setCreating(false)} onDone={list.refetch} />}
      <Confirm
        title={t('withdraw_title')}
        text={t('withdraw_text', { amount: format.exact(leaving?.amount, currency) })}
        action={t('withdraw_title')}
        keep={t('keep')}
        isFinal
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        onConfirm={async () => {
          await api('DELETE', `/codes/${leaving!.id}`)
          list.refetch()
        }}
      />
    </Page>
  )
}

function useColumns(onDelete: (code: CodeRow) => void): Column<CodeRow>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  const displayName = useDisplayNames()
  return [
    numberColumn(
      withUnit(t('amount_column'), currency),
      '110px',
      ({ amount }) => <Money amount={amount} currency={currency} isBare />,
      { id: 'amount', sort: ({ amount }) => Number(amount) },
    ),
    column(t('state'), '110px', ({ state }) => <State state={tones[state]} label={t(state)} />, {
      id: 'state',
      sort: ({ state }) => state,
    }),
    column(
      t('redeemed_by'),
      '170px',
      ({ account }) =>
        account === null ? '–' : <AccountName name={account} displayName={displayName(account)} />,
      {
        id: 'account',
        isPrivate: true,
        sort: ({ account }) => account,
      },
    ),
    column(t('redeemed_at'), '120px', ({ redeemed_at }) => <Time at={redeemed_at} how="ago" />, {
      id: 'redeemed_at',
    }),
    ...useOriginColumns(),
    column('', '80px', (code) => <DeleteButton code={code} onDelete={onDelete} />, {
      id: 'delete',
    }),
  ]
}

function useOriginColumns(): Column<CodeRow>[] {
  const t = useMessages(messages)
  return [
    column(
      t('expires_column'),
      '120px',
      ({ expires_at }) => (expires_at === null ? t('forever') : <Time at={expires_at} how="ago" />),
      { id: 'expires' },
    ),
    column(t('note'), '180px', ({ note }) => note ?? '–', { id: 'note' }),
    column(t('created'), '120px', ({ created_at }) => <Time at={created_at} how="ago" />, {
      id: 'created',
      sort: ({ created_at }) => created_at,
    }),
    column(t('created_by'), '120px', ({ created_by }) => created_by, {
      id: 'created_by',
      isPrivate: true,
    }),
    column('ID', '230px', ({ id }) => <CopyId id={id} />, { id: 'id', isOptional: true }),
  ]
}

function DeleteButton({ code, onDelete }: { code: CodeRow; onDelete: (code: CodeRow) => void }) {
  const t = useMessages(messages)
  if (code.state === 'redeemed') return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`${t('withdraw')} ${code.id}`}
      onClick={() => onDelete(code)}
    >
      {t('withdraw')}
    </Button>
  )
}

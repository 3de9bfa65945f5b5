// The settings of an account: its budgets, the threshold of its balance, its tags, how end users are kept.
// Only what was changed is sent: what gateway.yaml declares is changed there.
import {
  Button,
  CloseButton,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import {
  type BudgetDraft,
  BudgetFields,
  budgetFrom,
  draftOf,
} from '../../components/billing/budget.tsx'
import { RequireFields } from '../../components/fields/require-fields.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { type DataRequirement, requirementFrom } from '../../lib/resources/data-terms.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const modes = ['hashed', 'plain', 'off'] as const

interface TagDraft extends BudgetDraft {
  key: number
  tag: string
}

interface Draft {
  budget: BudgetDraft
  tagBudgets: TagDraft[]
  threshold: string
  tagNames: string[]
  endUsers: Account['end_users']
  tokenLimit: number | string
  require: DataRequirement
}

const draftFrom = (account: Account): Draft => ({
  budget: draftOf(account.budget),
  tagBudgets: account.tag_budgets.map(({ tag, ...budget }, key) => ({
    key,
    tag,
    ...draftOf(budget),
  })),
  threshold: account.balance_low ?? '',
  tagNames: [...account.tag_names],
  endUsers: account.end_users,
  tokenLimit: account.token_limit,
  require: account.require ?? {},
})

/** As the admin API takes it. */
const bodyFrom = (draft: Draft) => {
  const { budget, tagBudgets, threshold, tagNames, endUsers, tokenLimit, require } = draft
  return {
    budget: budgetFrom(budget),
    tag_budgets: tagBudgets.flatMap(({ tag, ...draft }) => {
      const set = budgetFrom(draft)
      return set === null ? [] : [{ tag: tag.trim(), ...set }]
    }),
    balance_low: threshold.trim() === '' ? null : threshold.trim(),
    tag_names: tagNames,
    end_users: endUsers,
    token_limit: tokenLimit === '' ? null : Number(tokenLimit),
    require: requirementFrom(require),
  }
}

function changesIn(before: Draft, after: Draft): object {
  const [old, fresh] = [bodyFrom(before), bodyFrom(after)]
  const changed = Object.entries(fresh).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]),
  )
  return Object.fromEntries(changed)
}

export function EditSettings({
  account,
  onClose,
  onDone,
}: {
  account: Account
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const [before] = useState(() => draftFrom(account))
  const [draft, setDraft] = useState(before)
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const submit = async () => {
    const set = (body: object) =>
      api('PATCH', `/accounts/${encodeURIComponent(account.name)}`, { body })
    await set(changesIn(before, draft))
    offerUndo(t('saved_as', { name: account.name }), () => set(changesIn(draft, before)))
    onDone()
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`${t('edit')} · ${account.name}`} size="lg">
      <ActionForm submit={t('save')} onSubmit={submit} onCancel={onClose}>
        <BudgetFields draft={draft.budget} onChange={(budget) => change({ budget })} />
        <TextInput
          label={`${t('balance_low')} (${currency})`}
          description={t('balance_low_hint')}
          inputMode="decimal"
          value={draft.threshold}
          onChange={(event) => change({ threshold: event.currentTarget.value })}
        />
        <TagsInput
          label={t('tag_names')}
          description={t('tag_names_hint')}
          placeholder="team"
          value={draft.tagNames}
          onChange={(tagNames) => change({ tagNames })}
        />
        <TagBudgets rows={draft.tagBudgets} onChange={(tagBudgets) => change({ tagBudgets })} />
        <Select
          label={t('end_users')}
          description={t('end_users_hint')}
          allowDeselect={false}
          data={modes.map((value) => ({ value, label: t(`end_users_${value}`) }))}
          value={draft.endUsers}
          onChange={(next) => change({ endUsers: (next ?? 'hashed') as Account['end_users'] })}
        />
        <NumberInput
          label={t('token_limit')}
          description={t('token_limit_hint')}
          min={0}
          allowDecimal={false}
          value={draft.tokenLimit}
          onChange={(tokenLimit) => change({ tokenLimit })}
        />
        <RequireFields value={draft.require} onChange={(require) => change({ require })} />
      </ActionForm>
    </Modal>
  )
}

function TagBudgets({
  rows,
  onChange,
}: {
  rows: readonly TagDraft[]
  onChange: (rows: TagDraft[]) => void
}) {
  const t = useMessages(messages)
  const put = (key: number, part: Partial<TagDraft>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  const add = () => {
    const key = Math.max(0, ...rows.map((row) => row.key)) + 1
    onChange([...rows, { key, tag: '', ...draftOf(null) }])
  }
  return (
    <section>
      <SectionTitle>{t('tag_budgets')}</SectionTitle>
      <Stack>
        {rows.map((row) => (
          <Stack key={row.key} gap="xs">
            <Group align="end" wrap="nowrap">
              <TextInput
                flex={1}
                label={t('tag')}
                placeholder="team=red"
                required
                value={row.tag}
                onChange={(event) => put(row.key, { tag: event.currentTarget.value })}
              />
              <CloseButton
                size="lg"
                aria-label={t('remove_tag_budget', { tag: row.tag || '–' })}
                onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
              />
            </Group>
            <BudgetFields draft={row} onChange={(draft) => put(row.key, draft)} />
          </Stack>
        ))}
        <Button variant="default" size="xs" onClick={add} style={{ alignSelf: 'start' }}>
          {t('add_tag_budget')}
        </Button>
      </Stack>
    </section>
  )
}

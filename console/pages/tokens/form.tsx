// The form of a token: a new one, or a change of one.

import { Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { BudgetFields, budgetFrom, draftOf } from '../../components/billing/budget.tsx'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { ModelNames } from '../../components/fields/model-names.tsx'
import { RequireFields } from '../../components/fields/require-fields.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useMessages } from '../../lib/messages.ts'
import { type DataRequirement, requirementFrom } from '../../lib/resources/data-terms.ts'
import { tagPairs, tagsFrom } from '../../lib/resources/tags.ts'
import type { Token } from '../../lib/resources/token.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const translationModes = ['on', 'strict', 'off'] as const
const fallbackModes = ['allowed', 'never'] as const
const limitNames = ['rpm', 'tpm', 'concurrency'] as const
type Limits = Record<(typeof limitNames)[number], number | ''>

export function TokenForm({
  token,
  account: given = null,
  onCancel,
  onDone,
}: {
  /** Absent: a new one. */
  token?: Token
  /** Of a new one, where it is known. */
  account?: string | null
  onCancel: () => void
  onDone: (answer: { token?: string; models?: readonly string[] }) => void
}) {
  const t = useMessages(messages)
  const session = useSession()
  const wrong = useFieldError()
  const [name, setName] = useState(token?.name ?? '')
  const [account, setAccount] = useState(token?.account ?? session.account ?? given)
  const [rights, setRights] = useState(() => rightsOf(token))
  const [budget, setBudget] = useState(() => draftOf(token?.budget))
  const maySetBudget = hasRole(session, ['operator'])
  const withBudget = (set: typeof budget) => maySetBudget && { budget: budgetFrom(set) }
  const send = () =>
    token === undefined
      ? api<{ token: string; models: string[] }>('POST', '/tokens', {
          body: { account, name, ...newFields(rights), ...withBudget(budget) },
        })
      : change(token, { name, ...changedFields(rights), ...withBudget(budget) })
  const change = async ({ id, ...before }: Token, body: object) => {
    const path = `/tokens/${id}`
    const changed = await api<object>('PATCH', path, { body })
    offerUndo(t('saved_as', { name }), () => {
      const { name, expires_at } = before
      const rest = { ...changedFields(rightsOf(token)), ...withBudget(draftOf(before.budget)) }
      return api('PATCH', path, { body: { ...rest, name, expires_at } })
    })
    return changed
  }
  const submit = async () => onDone(await send())
  return (
    <ActionForm
      submit={t(token === undefined ? 'create' : 'save')}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <TextInput
        label={t('name')}
        required
        data-autofocus
        value={name}
        error={wrong('name', name)}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {token === undefined && session.account === null && (
        <AccountSelect
          isRequired
          value={account}
          onChange={(chosen) => setAccount(chosen ?? null)}
        />
      )}
      <RightsFields rights={rights} onChange={setRights} />
      {maySetBudget && <BudgetFields draft={budget} onChange={setBudget} />}
    </ActionForm>
  )
}

interface Rights {
  models: string[]
  ips: string[]
  translation: Token['translation']
  fallback: Token['fallback']
  /** `team=red` */
  tags: string[]
  /** A day, or empty. */
  expires: string
  limits: Limits
  require: DataRequirement
}

const noLimits: Limits = { rpm: '', tpm: '', concurrency: '' }

const rightsOf = (token: Token | undefined): Rights => ({
  models: token?.models.filter((each) => each !== '*') ?? [],
  ips: token?.allowed_ips ?? [],
  translation: token?.translation ?? 'on',
  fallback: token?.fallback ?? 'allowed',
  tags: tagPairs(token?.tags ?? {}),
  expires: dayOf(token?.expires_at),
  limits: { ...noLimits, ...token?.limits },
  require: token?.require ?? {},
})

function RightsFields({
  rights,
  onChange,
}: {
  rights: Rights
  onChange: (rights: Rights) => void
}) {
  const t = useMessages(messages)
  const { models, ips, tags, expires, limits } = rights
  const change = (part: Partial<Rights>) => onChange({ ...rights, ...part })
  return (
    <>
      <ModelNames
        label={t('models')}
        description={t('models_hint')}
        value={models}
        onChange={(next) => change({ models: next })}
      />
      <TagsInput
        label={t('ips')}
        description={t('ips_hint')}
        value={ips}
        onChange={(next) => change({ ips: next })}
      />
      <Group grow>
        {limitNames.map((limit) => (
          <NumberInput
            key={limit}
            label={t(limit)}
            min={1}
            allowDecimal={false}
            value={limits[limit]}
            onChange={(value) =>
              change({ limits: { ...limits, [limit]: value === '' ? '' : Number(value) } })
            }
          />
        ))}
      </Group>
      <ModeFields rights={rights} onChange={change} />
      <TagsInput
        label={t('tags')}
        description={t('tags_hint')}
        placeholder="team=red"
        value={tags}
        onChange={(next) => change({ tags: next })}
      />
      <TextInput
        type="date"
        label={t('expires')}
        description={t('expires_hint')}
        value={expires}
        onChange={(event) => change({ expires: event.currentTarget.value })}
      />
      <RequireFields value={rights.require} onChange={(require) => change({ require })} />
    </>
  )
}

/** What the gateway may do where no channel serves a call as it is. */
function ModeFields({
  rights: { translation, fallback },
  onChange,
}: {
  rights: Rights
  onChange: (part: Partial<Rights>) => void
}) {
  const t = useMessages(messages)
  return (
    <Group grow align="start">
      <Select
        label={t('translation')}
        description={t('translation_hint')}
        allowDeselect={false}
        data={translationModes.map((value) => ({ value, label: t(`translation_${value}`) }))}
        value={translation}
        onChange={(next) => onChange({ translation: (next ?? 'on') as Rights['translation'] })}
      />
      <Select
        label={t('fallback')}
        description={t('fallback_hint')}
        allowDeselect={false}
        data={fallbackModes.map((value) => ({ value, label: t(`fallback_${value}`) }))}
        value={fallback}
        onChange={(next) => onChange({ fallback: (next ?? 'allowed') as Rights['fallback'] })}
      />
    </Group>
  )
}

const dayOf = (at: string | null | undefined): string => at?.slice(0, 10) ?? ''
/** The end of that day, by UTC. */
const endOf = (day: string): string => `${day}T23:59:59Z`

function newFields(rights: Rights): object {
  const { models, ips, translation, fallback, tags, expires, limits } = rights
  const set = Object.entries(limits).filter(([, value]) => value !== '')
  const require = requirementFrom(rights.require)
  return {
    ...(models.length > 0 && { models }),
    ...(ips.length > 0 && { allowed_ips: ips }),
    ...(translation !== 'on' && { translation }),
    ...(fallback !== 'allowed' && { fallback }),
    ...(tags.length > 0 && { tags: tagsFrom(tags) }),
    ...(expires !== '' && { expires_at: endOf(expires) }),
    ...(set.length > 0 && { limits: Object.fromEntries(set) }),
    ...(require !== null && { require }),
  }
}

/** Empty fields are removed. */
const changedFields = ({
  models,
  ips,
  translation,
  fallback,
  tags,
  expires,
  limits,
  require,
}: Rights): object => ({
  models: models.length === 0 ? ['*'] : models,
  allowed_ips: ips,
  translation,
  fallback,
  tags: tags.length === 0 ? null : tagsFrom(tags),
  expires_at: expires === '' ? null : endOf(expires),
  limits: Object.fromEntries(limitNames.map((name) => [name, limits[name] || null])),
  require: requirementFrom(require),
})

// A virtual model: which models serve it, in which order or by which weight, and what it costs.
import { Radio, SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ModelKind, modelKinds } from '../../../src/contract/catalog.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { emptyTerms, unitsOf } from '../../components/price-editor/draft.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Model, Terms } from '../../lib/resources/price.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { declarationOf, membersOf } from './catalog.ts'
import { type Member, MemberList } from './member-list.tsx'
import { messages } from './messages.ts'
import { PriceFields } from './model-form.tsx'
import { useSaveModel } from './save-model.ts'

type Order = 'in_order' | 'by_weight'

export function VirtualForm({
  model,
  models,
  onCancel,
  onDone,
}: {
  /** Absent: a new one. */
  model?: Model
  models: readonly Model[]
  onCancel: () => void
  onDone: (name: string) => void
}) {
  const t = useMessages(messages)
  const mayPrice = hasRole(useSession(), ['finance'])
  const [name, setName] = useState(model?.name ?? '')
  const [kind, setKind] = useState<ModelKind>((model?.kind as ModelKind | undefined) ?? 'text')
  const begun = model === undefined ? [] : membersOf(model)
  const [members, setMembers] = useState<readonly Member[]>(begun)
  const [order, setOrder] = useState<Order>(
    begun.some(({ weight }) => weight !== undefined) ? 'by_weight' : 'in_order',
  )
  const [pricedBy, setPricedBy] = useState<'served' | 'own'>(model?.price ?? 'served')
  const [isPriced, setPriced] = useState(mayPrice && model === undefined)
  const [terms, setTerms] = useState<Terms>(() => emptyTerms(unitsOf(kind)[0]!))
  const save = useSaveModel()
  const submit = async () => {
    const virtual = members.map(({ model: each, weight = 1 }) =>
      order === 'by_weight' ? { model: each, weight } : each,
    )
    const before = model === undefined ? {} : declarationOf(model)
    const entry = { ...before, kind, virtual, price: pricedBy }
    await save({ name, entry, price: pricedBy === 'own' && isPriced ? terms : undefined })
    onDone(name)
  }
  return (
    <ActionForm submit={t('save_model')} onSubmit={submit} onCancel={onCancel}>
      <TextInput
        label={t('name')}
        description={t('name_hint')}
        required
        disabled={model !== undefined}
        placeholder="coder"
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
      <KindSelect
        kind={kind}
        onChange={(next) => {
          setKind(next)
          setMembers([])
          setTerms(emptyTerms(unitsOf(next)[0]!))
        }}
      />
      <Stack gap="xs">
        <SegmentedControl
          aria-label={t('members')}
          data={(['in_order', 'by_weight'] as const).map((value) => ({ value, label: t(value) }))}
          value={order}
          onChange={(value) => setOrder(value as Order)}
        />
        <MemberList
          kind={kind}
          models={models}
          isWeighted={order === 'by_weight'}
          members={members}
          onChange={setMembers}
        />
      </Stack>
      <PricedBy value={pricedBy} onChange={setPricedBy} />
      {pricedBy === 'own' && (
        <PriceFields
          {...{ kind, mayPrice, isPriced, terms }}
          onPriced={setPriced}
          onChange={setTerms}
        />
      )}
    </ActionForm>
  )
}

function KindSelect({ kind, onChange }: { kind: ModelKind; onChange: (kind: ModelKind) => void }) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <Select
      label={t('kind')}
      allowDeselect={false}
      data={modelKinds.map((value) => ({ value, label: server.text('model', value) }))}
      value={kind}
      onChange={(value) => onChange(modelKinds.find((each) => each === value) ?? kind)}
    />
  )
}

function PricedBy({
  value,
  onChange,
}: {
  value: 'served' | 'own'
  onChange: (value: 'served' | 'own') => void
}) {
  const t = useMessages(messages)
  return (
    <Radio.Group
      label={t('priced_by')}
      value={value}
      onChange={(next) => onChange(next === 'own' ? 'own' : 'served')}
    >
      <Stack gap="xs" mt={4}>
        <Radio value="served" label={t('served')} />
        <Radio value="own" label={t('own')} />
      </Stack>
    </Radio.Group>
  )
}

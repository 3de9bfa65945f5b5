// Another name of a model, or all names with a prefix.
import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Model } from '../../lib/resources/price.ts'
import { declarationOf, isAlias } from './catalog.ts'
import { messages } from './messages.ts'
import { useSaveModel } from './save-model.ts'

export function AliasForm({
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
  const [name, setName] = useState(model?.name ?? '')
  const [target, setTarget] = useState<string | null>(model?.alias ?? null)
  const save = useSaveModel()
  const submit = async () => {
    const before = model === undefined ? {} : declarationOf(model)
    await save({ name, entry: { ...before, alias: target } })
    onDone(name)
  }
  return (
    <ActionForm submit={t('save_model')} onSubmit={submit} onCancel={onCancel}>
      <TextInput
        label={t('name')}
        description={t('alias_name_hint')}
        required
        disabled={model !== undefined}
        placeholder="claude-*"
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
      <Select
        label={t('alias_of')}
        required
        searchable
        data={models.filter((each) => !isAlias(each)).map((each) => each.name)}
        value={target}
        onChange={setTarget}
      />
    </ActionForm>
  )
}

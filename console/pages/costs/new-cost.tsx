// A new version of a cost: channel, model, amounts as fields or as JSON, currency and when it begins.
import { Modal, Select, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { emptyTerms, unitsOf } from '../../components/price-editor/draft.ts'
import { TermsFields } from '../../components/price-editor/terms-fields.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useTimeZone, zoneText } from '../../lib/format/time-zone.ts'
import { useMessages } from '../../lib/messages.ts'
import type { CostFactors } from '../../lib/resources/cost.ts'
import { type Model, startOf, type Terms } from '../../lib/resources/price.ts'
import { useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

interface Props {
  factors: CostFactors | undefined
  onClose: () => void
  onDone: () => void
}

function parsed(text: string): Terms | undefined {
  try {
    return JSON.parse(text) as Terms
  } catch {
    return undefined
  }
}

export function NewCost({ factors, onClose, onDone }: Props) {
  const t = useMessages(messages)
  return (
    <Modal opened onClose={onClose} title={t('new_version')} size="lg" closeOnClickOutside={false}>
      <CostForm factors={factors} onClose={onClose} onDone={onDone} />
    </Modal>
  )
}

function CostForm({ factors, onClose, onDone }: Props) {
  const t = useMessages(messages)
  const { currency: own } = useSession()
  const [zone] = useTimeZone()
  const models = useResource<Page<Model>>('/models', { query: { limit: 500 } }).data?.items ?? []
  const [channel, setChannel] = useState<string | null>(null)
  const [model, setModel] = useState<string | null>(null)
  const [currency, setCurrency] = useState(own)
  const [terms, setTerms] = useState<Terms>(emptyTerms('token'))
  const [json, setJson] = useState<string>()
  const [from, setFrom] = useState('')
  const units = unitsOf(models.find(({ name }) => name === model)?.kind ?? 'text')
  const choose = (name: string | null) => {
    setModel(name)
    const [unit = 'token'] = unitsOf(models.find((each) => each.name === name)?.kind ?? 'text')
    if (unit !== terms['unit']) setTerms(emptyTerms(unit))
  }
  const submit = async () => {
    const given = json === undefined ? terms : parsed(json)
    if (given === undefined) throw new Error(t('no_json'))
    const of = { channel, model, ...(currency !== own && { currency }) }
    await api('POST', '/costs', { body: { ...of, ...given, ...startOf(from, zone) } })
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('activate')} onSubmit={submit} onCancel={onClose}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t('channel')}
          required
          searchable
          data={factors?.channels.map((each) => each.channel) ?? []}
          value={channel}
          onChange={setChannel}
        />
        <Select
          label={t('model')}
          required
          searchable
          data={models.map(({ name }) => name)}
          value={model}
          onChange={choose}
        />
        <Select
          label={t('currency')}
          description={t('currency_hint')}
          allowDeselect={false}
          data={[own, ...Object.keys(factors?.exchange ?? {})]}
          value={currency}
          onChange={(value) => setCurrency(value ?? own)}
        />
        <TextInput
          label={`${t('effective')} · ${zoneText(zone)}`}
          type="datetime-local"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
      </SimpleGrid>
      <TermsInput
        terms={terms}
        json={json}
        units={units}
        currency={currency}
        onTerms={setTerms}
        onJson={setJson}
      />
    </ActionForm>
  )
}

/** The amounts as fields, or all of the terms as JSON. */
function TermsInput({
  terms,
  json,
  units,
  currency,
  onTerms,
  onJson,
}: {
  terms: Terms
  /** Undefined: as fields. */
  json: string | undefined
  units: readonly string[]
  currency: string
  onTerms: (terms: Terms) => void
  onJson: (text: string | undefined) => void
}) {
  const t = useMessages(messages)
  const change = (isJson: boolean) => {
    if (!isJson) onTerms(parsed(json ?? '') ?? terms)
    onJson(isJson ? JSON.stringify(terms, null, 2) : undefined)
  }
  return (
    <>
      <Switch
        label={t('as_json')}
        checked={json !== undefined}
        onChange={(event) => change(event.currentTarget.checked)}
      />
      {json === undefined ? (
        <TermsFields units={units} terms={terms} currency={currency} onChange={onTerms} />
      ) : (
        <Textarea
          label={t('json')}
          autosize
          minRows={5}
          maxRows={20}
          spellCheck={false}
          value={json}
          error={parsed(json) === undefined ? t('no_json') : undefined}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          onChange={(event) => onJson(event.currentTarget.value)}
        />
      )}
    </>
  )
}

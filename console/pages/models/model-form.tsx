// A model with its limits, the channel that serves it and its price, in one form: a new one, or the entry
// of one that is there.
import { Group, NumberInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ModelKind, modelKindRows, modelKinds } from '../../../src/contract/catalog.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { emptyTerms, unitsOf } from '../../components/price-editor/draft.ts'
import { TermsFields } from '../../components/price-editor/terms-fields.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model, Terms } from '../../lib/resources/price.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { canServe, hasProtocols } from './catalog.ts'
import { messages } from './messages.ts'
import { OfferFields } from './offer-fields.tsx'
import { useSaveModel } from './save-model.ts'

/** What a form begins with. */
export interface Begun {
  name?: string
  kind?: ModelKind
  channel?: Channel
  upstreamName?: string
}

interface Entry {
  kind: ModelKind
  displayName: string
  interfaces: readonly string[]
  protocols: readonly string[]
  limits: Readonly<Record<Limit, number | undefined>>
  translate: boolean
  routing: Model['routing']
}

const limits = ['context_window', 'max_output_tokens', 'max_tokens_per_image'] as const
type Limit = (typeof limits)[number]

/** Images and videos have no tokens to limit. */
const limitsOf = (kind: ModelKind): readonly Limit[] =>
  kind === 'text' ? limits : kind === 'embedding' ? ['context_window'] : []

function entryOf(model: Model | undefined, { kind = 'text', channel }: Begun): Entry {
  const none = undefined
  const own = (limit: Limit) => model?.[limit] ?? none
  const spoken = Object.keys(channel?.protocols ?? {})
  return {
    kind: (model?.kind as ModelKind | undefined) ?? kind,
    displayName: model === undefined || model.display_name === model.name ? '' : model.display_name,
    interfaces: model?.interfaces ?? modelKindRows[kind].interfaces,
    protocols: model?.protocols ?? (hasProtocols(kind) ? spoken : []),
    limits: {
      context_window: own('context_window'),
      max_output_tokens: own('max_output_tokens'),
      max_tokens_per_image: own('max_tokens_per_image'),
    },
    translate: model?.translate ?? true,
    routing: model?.routing ?? 'load',
  }
}

/** As PUT /models takes it. */
function bodyOf(entry: Entry) {
  const { kind, displayName, interfaces, protocols, limits: given, translate, routing } = entry
  const bounds = limitsOf(kind).flatMap((name) =>
    given[name] === undefined ? [] : [[name, given[name]]],
  )
  return {
    kind,
    interfaces,
    ...(hasProtocols(kind) && protocols.length > 0 && { protocols }),
    ...(displayName !== '' && { display_name: displayName }),
    ...Object.fromEntries(bounds),
    ...(kind === 'text' && !translate && { translate: false }),
    ...(routing === 'latency' && { routing }),
  }
}

/** What the form does not show stays as it is. */
const policyOf = (model: Model | undefined) => ({
  ...(model?.retention && { retention: model.retention }),
  ...(model?.training && { training: model.training }),
})

export function ModelForm({
  model,
  begun = {},
  models,
  channels,
  onCancel,
  onDone,
}: {
  /** Absent: a new one. */
  model?: Model
  begun?: Begun
  models: readonly Model[]
  channels: readonly Channel[]
  onCancel: () => void
  onDone: (name: string) => void
}) {
  const t = useMessages(messages)
  const mayPrice = hasRole(useSession(), ['finance'])
  const [name, setName] = useState(model?.name ?? begun.name ?? '')
  const [entry, setEntry] = useState(() => entryOf(model, begun))
  const [channel, setChannel] = useState(begun.channel)
  const [upstreamName, setUpstreamName] = useState(begun.upstreamName ?? '')
  const [isPriced, setPriced] = useState(mayPrice && model === undefined)
  const [terms, setTerms] = useState<Terms>(() => emptyTerms(unitsOf(entry.kind)[0]!))
  const save = useSaveModel()
  const changeKind = (next: Entry) => {
    if (next.kind !== entry.kind) setTerms(emptyTerms(unitsOf(next.kind)[0]!))
    setEntry(next)
  }
  const submit = async () => {
    await save({
      name,
      entry: { ...bodyOf(entry), ...policyOf(model) },
      price: isPriced ? terms : undefined,
      serving: channel && { channel, upstreamName: upstreamName || name },
    })
    onDone(name)
  }
  return (
    <ActionForm submit={t('save_model')} onSubmit={submit} onCancel={onCancel}>
      <TextInput
        label={t('name')}
        description={t('name_hint')}
        required
        disabled={model !== undefined}
        placeholder="gpt-5-mini"
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
      <EntryFields entry={entry} models={models} onChange={changeKind} />
      {model === undefined && (
        <ServingFields
          channels={channels}
          channel={channel}
          onChannel={setChannel}
          name={name}
          upstreamName={upstreamName}
          onUpstreamName={setUpstreamName}
        />
      )}
      {model === undefined && (
        <PriceFields
          kind={entry.kind}
          mayPrice={mayPrice}
          isPriced={isPriced}
          onPriced={setPriced}
          terms={terms}
          onChange={setTerms}
        />
      )}
    </ActionForm>
  )
}

function EntryFields({
  entry,
  models,
  onChange,
}: {
  entry: Entry
  models: readonly Model[]
  onChange: (entry: Entry) => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const { kind } = entry
  const changeKind = (next: ModelKind) =>
    onChange({ ...entry, kind: next, interfaces: modelKindRows[next].interfaces, protocols: [] })
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label={t('display_name')}
          value={entry.displayName}
          onChange={(event) => onChange({ ...entry, displayName: event.currentTarget.value })}
        />
        <Select
          label={t('kind')}
          allowDeselect={false}
          data={modelKinds.map((value) => ({ value, label: server.text('model', value) }))}
          value={kind}
          onChange={(value) => changeKind(modelKinds.find((each) => each === value) ?? kind)}
        />
      </Group>
      <OfferFields entry={entry} models={models} onChange={onChange} />
      {limitsOf(kind).length > 0 && (
        <Group grow align="flex-start">
          {limitsOf(kind).map((name) => (
            <NumberInput
              key={name}
              label={t(name)}
              placeholder={t('defaults')}
              min={1}
              allowDecimal={false}
              thousandSeparator=","
              hideControls
              value={entry.limits[name] ?? ''}
              onChange={(value) =>
                onChange({
                  ...entry,
                  limits: {
                    ...entry.limits,
                    [name]: typeof value === 'number' ? value : undefined,
                  },
                })
              }
            />
          ))}
        </Group>
      )}
      <RoutingField
        routing={entry.routing}
        onChange={(routing) => onChange({ ...entry, routing })}
      />
      {kind === 'text' && (
        <Switch
          label={t('translate')}
          checked={entry.translate}
          onChange={(event) => onChange({ ...entry, translate: event.currentTarget.checked })}
        />
      )}
    </>
  )
}

/** How one of several channels of equal priority is chosen. */
function RoutingField({
  routing,
  onChange,
}: {
  routing: Model['routing']
  onChange: (routing: Model['routing']) => void
}) {
  const t = useMessages(messages)
  return (
    <Select
      label={t('routing')}
      description={t('routing_hint')}
      allowDeselect={false}
      data={(['load', 'latency'] as const).map((value) => ({
        value,
        label: t(`routing_${value}`),
      }))}
      value={routing}
      onChange={(value) => onChange(value === 'latency' ? 'latency' : 'load')}
    />
  )
}

function ServingFields({
  channels,
  channel,
  onChannel,
  name,
  upstreamName,
  onUpstreamName,
}: {
  channels: readonly Channel[]
  channel: Channel | undefined
  onChannel: (channel: Channel | undefined) => void
  name: string
  upstreamName: string
  onUpstreamName: (name: string) => void
}) {
  const t = useMessages(messages)
  return (
    <Group grow align="flex-end">
      <Select
        label={t('serving')}
        description={t('serving_hint')}
        placeholder={t('no_channel')}
        clearable
        searchable
        data={channels.filter(canServe).map((each) => each.name)}
        value={channel?.name ?? null}
        onChange={(value) => onChannel(channels.find((each) => each.name === value))}
      />
      {channel !== undefined && (
        <TextInput
          label={t('upstream_name')}
          placeholder={name}
          value={upstreamName}
          onChange={(event) => onUpstreamName(event.currentTarget.value.trim())}
        />
      )}
    </Group>
  )
}

export function PriceFields({
  kind,
  mayPrice,
  isPriced,
  onPriced,
  terms,
  onChange,
}: {
  kind: string
  mayPrice: boolean
  isPriced: boolean
  onPriced: (isPriced: boolean) => void
  terms: Terms
  onChange: (terms: Terms) => void
}) {
  const t = useMessages(messages)
  return (
    <Stack gap="xs">
      <SectionTitle>{t('price')}</SectionTitle>
      {mayPrice ? (
        <Switch
          label={t('price_now')}
          checked={isPriced}
          onChange={(event) => onPriced(event.currentTarget.checked)}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {t('price_by_finance')}
        </Text>
      )}
      {isPriced && <TermsFields units={unitsOf(kind)} terms={terms} onChange={onChange} />}
    </Stack>
  )
}

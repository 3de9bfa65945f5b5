// The steps of a new channel, one component each; wizard.tsx sends what they collect.

import {
  Alert,
  Checkbox,
  Group,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { Page } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { errorText, type TestResult } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useResource } from '../../lib/use-resource.ts'
import { CloudFields } from './cloud-fields.tsx'
import { type Draft, hasKeys, needsBase } from './draft.ts'
import { messages } from './messages.ts'
import { type Outgoing, SentPreview } from './outgoing.tsx'
import { type Kind, kindOf, kinds, type Preset } from './upstream-kinds.ts'

export interface OfferedModel {
  name: string
  kind: string
  protocols: string[]
  price_id: string | null
  virtual?: unknown
  alias?: unknown
  /** It was typed, and is not in the catalog yet. */
  isNew?: true
}

/** Those of the catalog that such an upstream can serve; of a cloud, those that were typed. */
export function useModels(kind: Kind | undefined, typed: readonly string[]): OfferedModel[] {
  const { data } = useResource<Page<OfferedModel>>('/models', { query: { limit: 500 } })
  if (kind?.preset?.cloud != null) {
    const known = new Map(data?.items.map((model) => [model.name, model]))
    return typed.map((name) => known.get(name) ?? newModel(name))
  }
  const patterns = Object.keys(kind?.preset?.models ?? {})
  if (kind?.preset !== undefined) {
    return (data?.items ?? []).filter(({ name }) => patterns.some((each) => fits(each, name)))
  }
  const spoken = Object.keys(kind?.protocols ?? {})
  return (data?.items ?? []).filter(
    ({ protocols, virtual, alias }) =>
      protocols.some((protocol) => spoken.includes(protocol)) &&
      // No upstream serves what only stands for other models.
      (virtual ?? alias ?? null) === null,
  )
}

const newModel = (name: string): OfferedModel => ({
  ...{ name, kind: 'text', protocols: [], price_id: null, isNew: true },
})

const fits = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

/** A provider that the gateway knows, in place of a type. */
function PresetSelect({
  kind,
  onChange,
}: {
  kind: Kind | undefined
  onChange: (kind: Kind) => void
}) {
  const t = useMessages(messages)
  const { data } = useResource<Page<Preset>>('/presets', { query: { limit: 200 } })
  const presets = data?.items ?? []
  return (
    <Select
      label={t('provider')}
      description={t('provider_hint')}
      searchable
      data={presets.map(({ name, title }) => ({ value: name, label: title }))}
      value={kind?.preset?.name ?? null}
      onChange={(name) => {
        const preset = presets.find((each) => each.name === name)
        if (preset !== undefined) onChange(kindOf(preset))
      }}
    />
  )
}

export function KindStep({
  kind,
  onChange,
}: {
  kind: Kind | undefined
  onChange: (kind: Kind) => void
}) {
  const t = useMessages(messages)
  return (
    <Stack>
      <PresetSelect kind={kind} onChange={onChange} />
      <Radio.Group
        label={t('kind')}
        value={kind?.id ?? null}
        onChange={(id) => onChange(kinds.find((each) => each.id === id)!)}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs">
          {kinds.map(({ id, title, hint }) => (
            <Radio key={id} value={id} label={t(title)} description={t(hint)} />
          ))}
        </SimpleGrid>
      </Radio.Group>
    </Stack>
  )
}

interface KeyStepProps {
  kind: Kind
  draft: Draft
  onChange: (draft: Draft) => void
  /** Of the last try. */
  error: Error | undefined
}

export function KeyStep({ kind, draft, onChange, error }: KeyStepProps) {
  const t = useMessages(messages)
  const wrong = useFieldError()
  const cloud = kind.preset?.cloud ?? undefined
  const baseHint = cloud !== undefined && !needsBase(draft, kind) ? 'base_cloud_hint' : undefined
  return (
    <Stack>
      <TextInput
        label={t('name')}
        required
        data-autofocus
        value={draft.name}
        error={wrong('name', draft.name)}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
      />
      {cloud !== undefined && (
        <CloudFields
          kind={cloud}
          draft={draft.cloud}
          error={error}
          onChange={(next) => onChange({ ...draft, cloud: next })}
        />
      )}
      <TextInput
        label={t('base')}
        description={t(baseHint ?? (kind.preset === undefined ? 'base_hint' : 'base_preset_hint'))}
        placeholder={kind.example}
        required={needsBase(draft, kind)}
        value={draft.base}
        onChange={(event) => onChange({ ...draft, base: event.currentTarget.value })}
      />
      {hasKeys(draft, kind) && (
        <KeysField
          isRequired={kind.preset?.needs_key ?? true}
          value={draft.keys}
          onChange={(keys) => onChange({ ...draft, keys })}
        />
      )}
      {cloud !== undefined && (
        <Textarea
          label={t('models')}
          description={t('models_cloud_hint')}
          required
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
          value={draft.models}
          onChange={(event) => onChange({ ...draft, models: event.currentTarget.value })}
        />
      )}
    </Stack>
  )
}

function KeysField({
  isRequired,
  value,
  onChange,
}: {
  isRequired: boolean
  value: string
  onChange: (value: string) => void
}) {
  const t = useMessages(messages)
  return (
    <Textarea
      label={t('keys')}
      description={t('keys_once')}
      required={isRequired}
      autosize
      minRows={2}
      maxRows={6}
      autoComplete="off"
      spellCheck={false}
      classNames={{ input: 'private' }}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

const textProtocols = ['chat', 'responses', 'messages', 'generate', 'bedrock', 'embeddings']

/** What a test that failed means for the next step. */
function afterFailure(kind: Kind, models: readonly OfferedModel[]) {
  if (models.length === 0) return 'test_no_model'
  const protocols = Object.keys(kind.preset?.protocols ?? kind.protocols)
  return protocols.some((name) => textProtocols.includes(name)) ? 'test_fix' : 'test_no_call'
}

export function TestStep({
  kind,
  models,
  test,
  outgoing,
}: {
  kind: Kind
  models: readonly OfferedModel[]
  test: TestResult | undefined
  outgoing: Outgoing
}) {
  const t = useMessages(messages)
  const format = useFormat()
  if (test === undefined) return null
  return (
    <Stack>
      <Text size="sm" fw={500}>
        {t('calls_go_to')}
      </Text>
      <SentPreview channel={outgoing} />
      {test.ok ? (
        <Alert color="teal">
          {t('test_ok', { ms: format.ms(test.latency_ms) })} · {test.model}
        </Alert>
      ) : (
        <Alert color="orange" title={t('test_failed')}>
          {errorText(test)}
        </Alert>
      )}
      <Text size="sm" c="dimmed">
        {t(test.ok ? 'test_drained' : afterFailure(kind, models))}
      </Text>
    </Stack>
  )
}

export function ModelStep({
  models,
  chosen,
  onChange,
}: {
  models: readonly OfferedModel[]
  chosen: string[]
  onChange: (chosen: string[]) => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const about = ({ kind, price_id, isNew }: OfferedModel) =>
    [
      server.text('model', kind),
      ...(isNew ? [t('new_model')] : []),
      ...(price_id === null ? [t('no_price')] : []),
    ].join(' · ')
  return (
    <Checkbox.Group
      label={t('models')}
      description={t('pick_models')}
      value={chosen}
      onChange={onChange}
    >
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} mt="xs">
        {models.map((model) => (
          <Checkbox
            key={model.name}
            value={model.name}
            label={model.name}
            description={about(model)}
          />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

export function PriceStep({ models }: { models: readonly OfferedModel[] }) {
  const t = useMessages(messages)
  const missing = models.filter(({ price_id }) => price_id === null)
  if (missing.length === 0) return <Alert color="teal">{t('prices_there')}</Alert>
  return (
    <Alert color="orange" title={t('prices_missing')}>
      <Group gap="sm">
        {missing.map(({ name }) => (
          <Link key={name} to={`/prices?missing=1&open=${encodeURIComponent(name)}&new=1`}>
            {name}
          </Link>
        ))}
      </Group>
    </Alert>
  )
}

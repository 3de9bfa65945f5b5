// The steps of a new channel, one component each; wizard.tsx sends what they collect.

import {
  Alert,
  Checkbox,
  Group,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { errorText, type TestResult } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import type { Draft } from './draft.ts'
import { messages } from './messages.ts'
import { type Kind, kinds } from './upstream-kinds.ts'

interface OfferedModel {
  name: string
  kind: string
  protocols: string[]
  price_id: string | null
}

/** Those of the catalog that such an upstream can serve. */
export function useModels(kind: Kind | undefined): OfferedModel[] {
  const { data } = useResource<Page<OfferedModel>>('/models', { query: { limit: 500 } })
  const spoken = Object.keys(kind?.protocols ?? {})
  return (data?.items ?? []).filter(({ protocols }) =>
    protocols.some((protocol) => spoken.includes(protocol)),
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
  )
}

export function KeyStep({
  kind,
  draft,
  onChange,
}: {
  kind: Kind
  draft: Draft
  onChange: (draft: Draft) => void
}) {
  const t = useMessages(messages)
  return (
    <Stack>
      <TextInput
        label={t('name')}
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
      />
      <TextInput
        label={t('base')}
        description={t('base_hint')}
        placeholder={kind.example}
        required
        value={draft.base}
        onChange={(event) => onChange({ ...draft, base: event.currentTarget.value })}
      />
      <Textarea
        label={t('keys')}
        description={t('keys_once')}
        required
        autosize
        minRows={2}
        maxRows={6}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'private' }}
        value={draft.keys}
        onChange={(event) => onChange({ ...draft, keys: event.currentTarget.value })}
      />
    </Stack>
  )
}

export function TestStep({ test }: { test: TestResult | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (test === undefined) return null
  return (
    <Stack>
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
        {t(test.ok ? 'test_drained' : 'test_go_on')}
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
  return (
    <Checkbox.Group
      label={t('models')}
      description={t('pick_models')}
      value={chosen}
      onChange={onChange}
    >
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} mt="xs">
        {models.map(({ name, kind, price_id }) => (
          <Checkbox
            key={name}
            value={name}
            label={name}
            description={price_id === null ? `${kind} · ${t('no_price')}` : kind}
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
          <Link key={name} to={`/prices?missing=1&open=${encodeURIComponent(name)}`}>
            {name}
          </Link>
        ))}
      </Group>
    </Alert>
  )
}

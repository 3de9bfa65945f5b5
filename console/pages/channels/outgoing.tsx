// What a channel sends: where, what its rules change in it, and what its upstream promises of the data.
import { Group, NumberInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { DataTerms } from '../../lib/resources/data-terms.ts'
import { messages } from './messages.ts'

type Rules = NonNullable<Channel['request']>

/** One line for each change, in the order in which they are made. */
function ruleLines(request: Channel['request']): { kind: RuleKind; name: string; value: string }[] {
  const part = (
    of: 'header' | 'field',
    { set, remove }: NonNullable<Rules['headers' | 'body']>,
  ) => [
    ...Object.entries(set).map(([name, value]) => ({
      kind: `set_${of}` as const,
      name,
      value: typeof value === 'string' && of === 'header' ? value : JSON.stringify(value),
    })),
    ...remove.map((name) => ({ kind: `remove_${of}` as const, name, value: '' })),
  ]
  return [
    ...(request?.headers ? part('header', request.headers) : []),
    ...(request?.body ? part('field', request.body) : []),
  ]
}

type RuleKind = 'set_header' | 'remove_header' | 'set_field' | 'remove_field'

export type Outgoing = Pick<Channel, 'endpoints' | 'request'>

/** The URLs of its calls, and what its rules make of them. */
export function SentPreview({ channel: { endpoints, request } }: { channel: Outgoing }) {
  const t = useMessages(messages)
  const lines = ruleLines(request)
  return (
    <Stack gap={4}>
      {Object.entries(endpoints).map(([protocol, url]) => (
        <Text key={protocol} size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {protocol}: {url}
        </Text>
      ))}
      {lines.map(({ kind, name, value }) => (
        <Text key={`${kind} ${name}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t(kind)}{' '}
          <Text span ff="monospace">
            {value === '' ? name : `${name}: ${value}`}
          </Text>
        </Text>
      ))}
    </Stack>
  )
}

interface PolicyDraft {
  data: DataTerms
  /** JSON, or empty. */
  request: string
}

export const policyOf = (channel: Channel | undefined): PolicyDraft => ({
  data: channel?.data ?? {},
  request: channel?.request == null ? '' : JSON.stringify(channel.request, null, 2),
})

/** Null: none; undefined: what was typed is no object. */
function rulesIn({ request }: PolicyDraft): object | null | undefined {
  if (request.trim() === '') return null
  try {
    const value: unknown = JSON.parse(request)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** As the admin API takes it; what was emptied is cleared. Undefined where the rules cannot be read. */
export function policyBody(draft: PolicyDraft, isNew: boolean): object | undefined {
  const rules = rulesIn(draft)
  if (rules === undefined) return undefined
  const data = Object.keys(draft.data).length === 0 ? null : draft.data
  return {
    ...((data !== null || !isNew) && { data }),
    ...((rules !== null || !isNew) && { request: rules }),
  }
}

const trainingModes = ['no', 'opt_out', 'unpaid', 'yes'] as const

export function PolicyFields({
  draft,
  onChange,
}: {
  draft: PolicyDraft
  onChange: (draft: PolicyDraft) => void
}) {
  const t = useMessages(messages)
  const { data } = draft
  const change = (part: Partial<DataTerms>) => {
    const all = Object.entries({ ...data, ...part }).filter(
      ([, value]) => value !== undefined && value !== '',
    )
    onChange({ ...draft, data: Object.fromEntries(all) })
  }
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label={t('data_training')}
          description={t('data_training_hint')}
          placeholder={t('not_stated')}
          clearable
          data={trainingModes.map((value) => ({ value, label: t(`training_${value}`) }))}
          value={data.training ?? null}
          onChange={(value) => change({ training: (value ?? undefined) as DataTerms['training'] })}
        />
        <NumberInput
          label={t('data_retention')}
          description={t('data_retention_hint')}
          placeholder={t('not_stated')}
          min={0}
          allowDecimal={false}
          value={data.retention_days ?? ''}
          onChange={(value) => change({ retention_days: value === '' ? undefined : Number(value) })}
        />
        <TextInput
          label={t('data_region')}
          description={t('data_region_hint')}
          placeholder={t('not_stated')}
          value={data.region ?? ''}
          onChange={(event) => change({ region: event.currentTarget.value.trim() })}
        />
      </Group>
      <Textarea
        label={t('rules')}
        description={t('rules_hint')}
        placeholder='{ "headers": { "set": { "x-team": "red" } }, "body": { "remove": ["user"] } }'
        error={rulesIn(draft) === undefined ? t('bad_json') : undefined}
        autosize
        minRows={2}
        maxRows={12}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={draft.request}
        onChange={(event) => onChange({ ...draft, request: event.currentTarget.value })}
      />
    </>
  )
}

// What is set besides what is said: the system prompt, and the parameters that the style has.
import { NumberInput, Select, SimpleGrid, Stack, Switch, Textarea } from '@mantine/core'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import { formats, problemsIn, type SetUp, toolsIn } from './conversation.ts'
import type { Style } from './styles/style.ts'

interface SettingsProps {
  style: Style
  setUp: SetUp
  onChange: (setUp: SetUp) => void
}

export function Settings({ style, setUp, onChange }: SettingsProps) {
  const t = useMessages(messages)
  const set = (more: { [K in keyof SetUp]?: SetUp[K] | undefined }) =>
    onChange({ ...setUp, ...more } as SetUp)
  const has = (name: Style['has'][number]) => style.has.includes(name)
  const number = (name: 'max_tokens' | 'temperature' | 'top_p', step: number, max?: number) =>
    has(name) && (
      <NumberInput
        label={t(name)}
        value={setUp[name] ?? ''}
        min={0}
        step={step}
        {...(max !== undefined && { max })}
        onChange={(value) => set({ [name]: value === '' ? undefined : Number(value) })}
      />
    )
  return (
    <Stack gap="sm">
      <Textarea
        label={t('system')}
        value={setUp.system}
        autosize
        minRows={2}
        maxRows={10}
        classNames={{ input: privateClass }}
        onChange={(event) => set({ system: event.currentTarget.value })}
      />
      <SimpleGrid cols={2} spacing="xs">
        {number('max_tokens', 100)}
        {number('temperature', 0.1, 2)}
        {number('top_p', 0.05, 1)}
        {has('effort') && (
          <Select
            label={t('effort')}
            placeholder={t('default')}
            clearable
            clearButtonProps={{ 'aria-label': t('default') }}
            data={[...style.efforts]}
            value={style.efforts.find((each) => each === setUp.effort) ?? null}
            onChange={(value) => set({ effort: value ?? undefined })}
          />
        )}
      </SimpleGrid>
      {has('stop') && (
        <Textarea
          label={t('stop_texts')}
          value={setUp.stop}
          autosize
          minRows={1}
          maxRows={4}
          onChange={(event) => set({ stop: event.currentTarget.value })}
        />
      )}
      <Shapes {...{ style, setUp, onChange }} />
      <Switch
        label={t('stream')}
        checked={setUp.stream}
        onChange={(event) => set({ stream: event.currentTarget.checked })}
      />
    </Stack>
  )
}

/** Tools, the shape of the answer and other fields, written as JSON. */
function Shapes({ style, setUp, onChange }: SettingsProps) {
  const t = useMessages(messages)
  const problems = problemsIn(setUp)
  const known = formats.filter(
    (format) => format !== 'json_object' || style.has.includes('json_object'),
  )
  const count = problems.tools === undefined ? toolsIn(setUp.tools).length : 0
  const json = (name: 'tools' | 'schema' | 'more', label: string, placeholder: string) => (
    <Textarea
      label={label}
      placeholder={placeholder}
      value={setUp[name]}
      error={problems[name] && t('not_json', { why: problems[name] })}
      autosize
      minRows={2}
      maxRows={14}
      spellCheck={false}
      classNames={{ input: privateClass }}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onChange={(event) => onChange({ ...setUp, [name]: event.currentTarget.value })}
    />
  )
  return (
    <>
      <Select
        label={t('answer_format')}
        data={known.map((value) => ({ value, label: t(value) }))}
        value={known.find((each) => each === setUp.format) ?? 'text'}
        allowDeselect={false}
        onChange={(value) =>
          onChange({ ...setUp, format: formats.find((each) => each === value) ?? 'text' })
        }
      />
      {setUp.format === 'json_schema' &&
        json('schema', t('json_schema'), '{ "type": "object", "properties": {} }')}
      <details open={setUp.tools !== '' || undefined}>
        <summary className="quiet-summary">{t('tools_count', { n: count })}</summary>
        {json('tools', t('tools_json'), '[{ "name": "get_weather", "parameters": {} }]')}
      </details>
      <details open={setUp.more !== '' || undefined}>
        <summary className="quiet-summary">{t('other_fields')}</summary>
        {json('more', t('other_fields_json'), '{ "seed": 7 }')}
      </details>
    </>
  )
}

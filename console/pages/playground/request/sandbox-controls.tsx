// Controls of the sandbox: delay, speed, length and failure of its answer. They are written into the
// prompt as directives, and read from there.
import { Fieldset, NumberInput, Select, SimpleGrid, Text } from '@mantine/core'
import { useMessages } from '../../../lib/messages.ts'
import { messages } from '../messages.ts'
import {
  type Directives,
  directivesIn,
  failures,
  textFailures,
  withDirectives,
} from './directives.ts'

const maxValues = { delaySeconds: 600, chunkMs: 10_000, tokens: 100_000 }

export function SandboxControls({
  prompt,
  isText,
  onChange,
}: {
  prompt: string
  /** Its answer is words: it has tokens and events. */
  isText: boolean
  onChange: (prompt: string) => void
}) {
  const t = useMessages(messages)
  const set = directivesIn(prompt)
  const turn = (to: Directives) => onChange(withDirectives(prompt, { ...set, ...to }))
  const known: readonly string[] = [...failures, ...(isText ? textFailures : [])]
  const all =
    set.failure === undefined || known.includes(set.failure) ? known : [set.failure, ...known]
  const number = (name: 'delaySeconds' | 'chunkMs' | 'tokens', step: number) => (
    <NumberInput
      size="xs"
      label={t(name)}
      value={set[name] ?? ''}
      min={0}
      max={maxValues[name]}
      step={step}
      onChange={(value) => turn({ [name]: value === '' ? undefined : Number(value) })}
    />
  )
  return (
    <Fieldset legend={t('sandbox')} p="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {number('delaySeconds', 0.5)}
        {isText && number('chunkMs', 10)}
        {isText && number('tokens', 50)}
        <Select
          size="xs"
          label={t('failure')}
          placeholder={t('no_failure')}
          clearable
          clearButtonProps={{ 'aria-label': t('no_failure') }}
          data={all.map((value) => ({ value, label: labelOf(value, t) }))}
          value={set.failure ?? null}
          onChange={(value) => turn({ failure: value ?? undefined })}
        />
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt={4}>
        {t('knobs')}
      </Text>
    </Fieldset>
  )
}

const failureMessages = {
  fail: 'fail',
  'fail=content_policy': 'fail_policy',
  'status=429': 'fail_429',
  'status=500': 'fail_500',
  hang: 'fail_hang',
  leak: 'fail_leak',
  'cut=5': 'fail_cut',
  'error-after=3': 'fail_error',
  'no-usage': 'fail_usage',
} as const

const labelOf = (
  value: string,
  t: (key: (typeof failureMessages)[keyof typeof failureMessages]) => string,
): string =>
  Object.hasOwn(failureMessages, value)
    ? t(failureMessages[value as keyof typeof failureMessages])
    : value

// The body of a call: as a form, as JSON, as code. Form and JSON are two views of one text.
import {
  Alert,
  Code,
  NumberInput,
  Select,
  Stack,
  Switch,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { privateClass } from '../../lib/privacy.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CodeTabs } from '../../parts/code-tabs.tsx'
import { codeFor } from './code.ts'
import { type Field, type Trial, valueAt, withValue } from './interfaces.ts'
import { words } from './words.ts'

export interface EditorProps {
  trial: Trial
  model: string
  text: string
  onChange: (text: string) => void
}

function parse(text: string): { body?: unknown; why?: string } {
  try {
    return { body: JSON.parse(text) }
  } catch (error) {
    return { why: (error as Error).message }
  }
}

/** As it goes out. */
export const bodyWith = (trial: Trial, model: string, body: unknown): unknown =>
  trial.isModelInPath ? body : { model, ...(body as object) }

const knobs =
  '[[sim:delay=2s]]  [[sim:tokens=500]]  [[sim:fail]]  [[sim:status=429]]  [[sim:cut=5]]'

export function Editor({ trial, model, text, onChange }: EditorProps) {
  const say = useWords(words)
  const { public_url, environment } = useSession()
  const { body, why } = parse(text)
  const wrong = why !== undefined && <Alert color="red">{say('not_json', { why })}</Alert>
  return (
    <Tabs defaultValue="form">
      <Tabs.List>
        <Tabs.Tab value="form">{say('form')}</Tabs.Tab>
        <Tabs.Tab value="json">{say('json')}</Tabs.Tab>
        <Tabs.Tab value="code">{say('code')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form" pt="sm">
        <Stack>
          {wrong}
          {trial.fields.map((field) => (
            <FormField
              key={field.at}
              field={field}
              value={valueAt(body, field.at)}
              isDisabled={why !== undefined}
              onChange={(value) =>
                onChange(JSON.stringify(withValue(body, field.at, value), null, 2))
              }
            />
          ))}
          {environment === 'sandbox' && (
            <Text size="xs" c="dimmed">
              {say('knobs')}: <Code>{knobs}</Code>
            </Text>
          )}
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="json" pt="sm">
        <Stack>
          {wrong}
          <Textarea
            aria-label={say('json')}
            value={text}
            autosize
            minRows={12}
            maxRows={28}
            spellCheck={false}
            classNames={{ input: privateClass }}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="code" pt="sm">
        <CodeTabs snippets={codeFor(public_url, trial.path(model), bodyWith(trial, model, body))} />
      </Tabs.Panel>
    </Tabs>
  )
}

function FormField({
  field,
  value,
  isDisabled,
  onChange,
}: {
  field: Field
  value: unknown
  isDisabled: boolean
  onChange: (value: unknown) => void
}) {
  const say = useWords(words)
  const label = say(field.label)
  const text = typeof value === 'string' ? value : value === undefined ? '' : String(value)
  switch (field.kind) {
    case 'long':
      return (
        <Textarea
          label={label}
          value={text}
          disabled={isDisabled}
          autosize
          minRows={3}
          maxRows={12}
          classNames={{ input: privateClass }}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'number':
      return (
        <NumberInput
          label={label}
          value={typeof value === 'number' ? value : ''}
          disabled={isDisabled}
          onChange={(next) => onChange(next === '' ? undefined : Number(next))}
        />
      )
    case 'switch':
      return (
        <Switch
          label={label}
          checked={value === true}
          disabled={isDisabled}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          label={label}
          data={[...(field.options ?? [])]}
          value={text || null}
          disabled={isDisabled}
          onChange={(next) => onChange(next ?? undefined)}
        />
      )
    default:
      return (
        <TextInput
          label={label}
          value={text}
          disabled={isDisabled}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}

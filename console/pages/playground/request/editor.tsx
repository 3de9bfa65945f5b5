// The body of a call as a form, as JSON and as code. Form and JSON are two views of one text.
import { Alert, NumberInput, Select, Stack, Switch, Tabs, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useSession } from '../../../lib/session.ts'
import { messages } from '../messages.ts'
import { bodyWith } from './body.ts'
import { codeFor } from './code.ts'
import { CodePanel } from './code-panel.tsx'
import { type Endpoint, type Field, promptAt, valueAt, withValue } from './endpoints.ts'
import { formCodeFor } from './form-code.ts'
import type { Payer } from './payer.tsx'
import { SandboxControls } from './sandbox-controls.tsx'

interface EditorProps {
  endpoint: Endpoint
  model: string
  text: string
  payer: Payer
  /** The sandbox answers, or has just answered. */
  isSandbox: boolean
  onChange: (text: string) => void
  /** Fields that are no part of the body. */
  children?: ReactNode
}

function parse(text: string): { body?: unknown; why?: string } {
  try {
    return { body: JSON.parse(text) }
  } catch (error) {
    return { why: (error as Error).message }
  }
}

export function Editor(props: EditorProps) {
  const t = useMessages(messages)
  const { public_url } = useSession()
  const { endpoint, model, text, payer, onChange } = props
  const { body, why } = parse(text)
  const wrong = why !== undefined && <Alert color="red">{t('not_json', { why })}</Alert>
  const hasForm = endpoint.fields.length > 0
  const codes = endpoint.takesFile ? formCodeFor : codeFor
  return (
    <Tabs defaultValue={hasForm ? 'form' : 'json'}>
      <Tabs.List>
        {hasForm && <Tabs.Tab value="form">{t('form')}</Tabs.Tab>}
        <Tabs.Tab value="json">{t('json')}</Tabs.Tab>
        <Tabs.Tab value="code">{t('code')}</Tabs.Tab>
      </Tabs.List>
      {hasForm && (
        <Tabs.Panel value="form" pt="sm">
          <Stack>
            {wrong}
            {props.children}
            <FormFields {...props} body={body} isDisabled={why !== undefined} />
          </Stack>
        </Tabs.Panel>
      )}
      <Tabs.Panel value="json" pt="sm">
        <Stack>
          {wrong}
          <Textarea
            aria-label={t('json')}
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
        <CodePanel
          payer={payer}
          snippets={(token) =>
            codes(public_url, endpoint.path(model), bodyWith(endpoint, model, body), token)
          }
        />
      </Tabs.Panel>
    </Tabs>
  )
}

function FormFields(props: EditorProps & { body: unknown; isDisabled: boolean }) {
  const { endpoint, body, isDisabled, isSandbox, onChange } = props
  const at = promptAt(endpoint)
  const prompt = at === undefined ? undefined : valueAt(body, at)
  const set = (place: string, value: unknown) =>
    onChange(JSON.stringify(withValue(body, place, value), null, 2))
  return (
    <>
      {endpoint.fields.map((field) => (
        <FormField
          key={field.at}
          field={field}
          value={valueAt(body, field.item ? `${field.at}.${field.item.valueAt}` : field.at)}
          isDisabled={isDisabled}
          onChange={(value) => set(field.at, field.item ? itemOf(field.item, value) : value)}
        />
      ))}
      {isSandbox && at !== undefined && typeof prompt === 'string' && (
        <SandboxControls prompt={prompt} isText={false} onChange={(next) => set(at, next)} />
      )}
    </>
  )
}

const itemOf = ({ of }: NonNullable<Field['item']>, value: unknown) =>
  typeof value === 'string' ? of(value) : undefined

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
  const t = useMessages(messages)
  const label = t(field.label)
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
    case 'lines':
      return <TextLines label={label} value={value} isDisabled={isDisabled} onChange={onChange} />
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
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
        />
      )
  }
}

/** Empty lines go when one leaves: an interface refuses them. */
function TextLines({
  label,
  value,
  isDisabled,
  onChange,
}: {
  label: string
  value: unknown
  isDisabled: boolean
  onChange: (value: unknown) => void
}) {
  const lines = (Array.isArray(value) ? value : [value ?? '']) as unknown[]
  const isText = lines.every((line) => typeof line === 'string')
  return (
    <Textarea
      label={label}
      value={isText ? lines.join('\n') : JSON.stringify(value)}
      disabled={isDisabled || !isText}
      autosize
      minRows={3}
      maxRows={16}
      classNames={{ input: privateClass }}
      onChange={(event) => onChange(event.currentTarget.value.split('\n'))}
      onBlur={() => {
        const filled = lines.filter((line) => line !== '')
        if (isText && filled.length < lines.length) onChange(filled)
      }}
    />
  )
}

// A new price version: amounts as fields or all of it as JSON, the difference to the current one, and a
// preview against last month.
import {
  Button,
  Card,
  Code,
  Group,
  Select,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { emptyTerms, unitsOf } from '../../components/price-editor/draft.ts'
import { TermsFields } from '../../components/price-editor/terms-fields.tsx'
import { api } from '../../lib/api.ts'
import { useTimeZone, zoneText } from '../../lib/format/time-zone.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Model, type Price, startOf, type Terms, termsOf } from '../../lib/resources/price.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'
import { PreviewButton } from './preview.tsx'

const written = (terms: Terms): string => JSON.stringify(terms, null, 2)

function parsed(text: string): Terms | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Terms) : undefined
  } catch {
    return undefined
  }
}

/** Ends the price of an account. */
const generalPrice: Terms = { unit: 'default' }

export function NewVersion({
  model,
  current,
  others,
  onDone,
}: {
  model: Model
  current: Price | undefined
  /** In force for other models, to be copied from. */
  others: readonly Price[]
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [firstUnit = 'token'] = unitsOf(model.kind)
  const before = written(current === undefined ? emptyTerms(firstUnit) : termsOf(current))
  const [text, setText] = useState(before)
  const [account, setAccount] = useState<string>()
  const [endsOwn, setEndsOwn] = useState(false)
  const [from, setFrom] = useState('')
  const [zone] = useTimeZone()
  const { error, isBusy, run } = useAction()
  const isGeneral = account !== undefined && endsOwn
  const terms = isGeneral ? generalPrice : parsed(text)
  const draft = () => {
    if (terms === undefined) throw new Error(t('no_json'))
    return { model: model.name, ...terms, ...(account !== undefined && { account }) }
  }
  const save = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await api('POST', '/prices', { body: { ...draft(), ...startOf(from, zone) } })
      onDone()
    })
  }
  return (
    <Card withBorder>
      <form onSubmit={save} aria-label={t('new_version')}>
        <Stack>
          <Group grow align="flex-end">
            <AccountSelect
              label={t('for_account')}
              placeholder={t('all_accounts')}
              value={account}
              onChange={setAccount}
            />
            <TextInput
              label={`${t('effective')} · ${zoneText(zone)}`}
              type="datetime-local"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
          </Group>
          {account !== undefined && (
            <Switch
              label={t('end_own', { account })}
              checked={endsOwn}
              onChange={(event) => setEndsOwn(event.currentTarget.checked)}
            />
          )}
          {!isGeneral && (
            <>
              <TermsEditor kind={model.kind} text={text} others={others} onChange={setText} />
              <Diff before={before} after={text} />
              <PreviewButton key={`${text} ${account}`} drafts={() => ({ prices: [draft()] })} />
            </>
          )}
          <ErrorAlert error={error} />
          <div>
            <Button type="submit" loading={isBusy}>
              {t(from === '' ? 'activate' : 'schedule')}
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  )
}

/** The amounts as fields, or all of the price as JSON; to begin with, that of another model. */
function TermsEditor({
  kind,
  text,
  others,
  onChange,
}: {
  kind: string
  text: string
  others: readonly Price[]
  onChange: (text: string) => void
}) {
  const t = useMessages(messages)
  const [asJson, setAsJson] = useState(false)
  const terms = parsed(text)
  const units = unitsOf(kind)
  return (
    <>
      <Group justify="space-between" align="flex-end">
        <Select
          label={t('copy_from')}
          placeholder={t('no_model')}
          data={others
            .filter(({ unit }) => units.includes(unit))
            .map((each) => each.model)
            .sort()}
          searchable
          clearable
          value={null}
          onChange={(name) => {
            const source = others.find((each) => each.model === name)
            if (source !== undefined) onChange(written(termsOf(source)))
          }}
        />
        <Switch
          label={t('as_json')}
          checked={asJson || terms === undefined}
          onChange={(event) => setAsJson(event.currentTarget.checked)}
        />
      </Group>
      {asJson || terms === undefined ? (
        <Textarea
          label={t('tiers_json')}
          value={text}
          autosize
          minRows={5}
          maxRows={20}
          spellCheck={false}
          error={terms === undefined ? t('no_json') : undefined}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <TermsFields units={units} terms={terms} onChange={(next) => onChange(written(next))} />
      )}
    </>
  )
}

/** Lines that were removed and added. */
function Diff({ before, after }: { before: string; after: string }) {
  if (before === after) return null
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  const lines = [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `- ${line.trim()}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+ ${line.trim()}`),
  ]
  return <Code block>{lines.join('\n')}</Code>
}

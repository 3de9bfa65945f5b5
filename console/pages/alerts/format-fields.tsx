// What is posted to the URL of a new subscription: signed JSON, or a message of a chat tool.
import { Select, TextInput } from '@mantine/core'
import type { Webhook } from '../../../src/admin/notices/webhook-schema.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'

type Format = NonNullable<Webhook['format']>

export interface FormatDraft {
  format: Format
  secret: string
}

export const newFormat: FormatDraft = { format: 'json', secret: '' }

const formats: readonly Format[] = ['json', 'slack', 'feishu', 'dingtalk', 'wecom']
const hasSecret = (format: Format): boolean => format === 'feishu' || format === 'dingtalk'

export const formatBody = ({ format, secret }: FormatDraft) => ({
  ...(format !== 'json' && { format }),
  ...(hasSecret(format) && secret.trim() !== '' && { secret: secret.trim() }),
})

export function FormatFields({
  draft,
  onChange,
}: {
  draft: FormatDraft
  onChange: (draft: FormatDraft) => void
}) {
  const t = useMessages(messages)
  return (
    <>
      <Select
        label={t('format')}
        data={formats.map((value) => ({ value, label: t(`format_${value}`) }))}
        value={draft.format}
        allowDeselect={false}
        onChange={(value) => onChange({ ...draft, format: value as Format })}
      />
      {hasSecret(draft.format) && (
        <TextInput
          label={t('tool_secret')}
          value={draft.secret}
          autoComplete="off"
          onChange={(event) => onChange({ ...draft, secret: event.currentTarget.value })}
        />
      )}
    </>
  )
}

// An account, chosen from those there are.
import { Select } from '@mantine/core'
import type { Page } from '../lib/api.ts'
import { useMessages } from '../lib/messages.ts'
import { privateClass } from '../lib/privacy.ts'
import { useResource } from '../lib/use-resource.ts'

export function AccountSelect({
  label,
  all,
  value,
  onChange,
}: {
  label?: string
  /** What it says when none is chosen. */
  all: string
  value: string | undefined
  onChange: (account: string | undefined) => void
}) {
  const t = useMessages()
  const accounts = useResource<Page<{ name: string }>>('/accounts', { query: { limit: 500 } })
  return (
    <Select
      label={label ?? t('account')}
      placeholder={all}
      searchable
      clearable
      classNames={{ input: privateClass }}
      data={accounts.data?.items.map(({ name }) => name) ?? []}
      value={value ?? null}
      onChange={(name) => onChange(name ?? undefined)}
    />
  )
}

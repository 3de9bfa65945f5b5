// An account, chosen from suggestions that the gateway finds for what is typed.
import { Select } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import type { Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Suggestions at a time; typing finds the others. */
const maxShown = 50

export function AccountSelect({
  label,
  value,
  onChange,
  isRequired = false,
  placeholder,
}: {
  label?: string
  /** Its name. */
  value: string | null | undefined
  onChange: (name: string | undefined) => void
  /** Else it can be taken away again. */
  isRequired?: boolean
  placeholder?: string
}) {
  const t = useMessages()
  const [typed, setTyped] = useState('')
  // The field shows what is chosen, which is no search for others.
  const search = typed === value ? '' : typed.trim()
  const { data } = useResource<Page<Account>>('/accounts', {
    query: { limit: maxShown, search },
    placeholderData: keepPreviousData,
  })
  const chosen = value ?? null
  const found = data?.items.map(({ name }) => name) ?? []
  return (
    <Select
      label={label ?? t('account')}
      {...(placeholder !== undefined && { placeholder })}
      required={isRequired}
      clearable={!isRequired}
      allowDeselect={!isRequired}
      searchable
      classNames={{ input: privateClass }}
      nothingFoundMessage={t('none')}
      data={chosen === null || found.includes(chosen) ? found : [chosen, ...found]}
      // The gateway has filtered them.
      filter={({ options }) => options}
      value={chosen}
      onChange={(name) => onChange(name ?? undefined)}
      onSearchChange={setTyped}
    />
  )
}

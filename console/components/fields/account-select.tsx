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
  const isChosen = typed === value || typed.startsWith(`${value}${separator}`)
  const search = isChosen ? '' : typed.trim()
  const { data } = useResource<Page<Account>>('/accounts', {
    query: { limit: maxShown, search },
    placeholderData: keepPreviousData,
  })
  const chosen = value ?? null
  const found = data?.items.map(optionOf) ?? []
  const isFound = found.some((option) => option.value === chosen)
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
      data={chosen === null || isFound ? found : [{ value: chosen, label: chosen }, ...found]}
      // The gateway has filtered them.
      filter={({ options }) => options}
      value={chosen}
      onChange={(name) => onChange(name ?? undefined)}
      onSearchChange={setTyped}
    />
  )
}

/** No name of an account contains it. */
const separator = ' · '

const optionOf = ({ name, display_name }: Account) => ({
  value: name,
  label: display_name === null ? name : `${name}${separator}${display_name}`,
})

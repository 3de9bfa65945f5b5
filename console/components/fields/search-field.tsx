// The search field above a list.
import { TextInput } from '@mantine/core'
import { Icon } from '../icon.tsx'

interface SearchFieldProps {
  label: string
  value: string
  onChange(value: string): void
}

export const SearchField = ({ label, value, onChange }: SearchFieldProps) => (
  <TextInput
    aria-label={label}
    placeholder={label}
    w={320}
    maw="100%"
    leftSection={<Icon name="search" size={14} />}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)

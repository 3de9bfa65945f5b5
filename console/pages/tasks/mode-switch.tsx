// Tasks as a table or as thumbnails, or batches.
import { SegmentedControl } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import { setQuery } from '../../lib/router.tsx'
import { messages } from './messages.ts'

const modes = ['table', 'gallery', 'batches'] as const
type Mode = (typeof modes)[number]

export function ModeSwitch({ mode }: { mode: Mode }) {
  const t = useMessages(messages)
  return (
    <SegmentedControl
      size="xs"
      value={mode}
      onChange={(value) => {
        const isOtherList = (value === 'batches') !== (mode === 'batches')
        const view = value === 'table' ? undefined : value
        // The states of tasks are not those of batches.
        setQuery({ view, ...(isOtherList && { state: undefined, open: undefined }) })
      }}
      data={modes.map((value) => ({ value, label: t(value) }))}
    />
  )
}

// Below a chart: its legend, and the button that shows its values as a table.
import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'

export function TableToggle({ legend, table }: { legend?: ReactNode; table: () => ReactNode }) {
  const t = useMessages(messages)
  const [isShown, setShown] = useState(false)
  return (
    <>
      <Group gap="md" mt={4} wrap="nowrap" align="flex-start">
        {legend}
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          ml="auto"
          style={{ flexShrink: 0 }}
          aria-expanded={isShown}
          onClick={() => setShown(!isShown)}
        >
          {t(isShown ? 'as_chart' : 'as_table')}
        </Button>
      </Group>
      {isShown && table()}
    </>
  )
}

// Which columns of a list are shown: chosen by the reader, remembered in the browser for each page.
import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import { useLocation } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useStoredText } from '../../lib/storage.ts'
import { type Choice, type Column, isChosen, named } from './columns.ts'

function choiceIn(text: string | undefined): Choice {
  try {
    const read: unknown = JSON.parse(text ?? '{}')
    return typeof read === 'object' && read !== null ? (read as Choice) : {}
  } catch {
    return {}
  }
}

/** The choice of the signed-in person for this page. */
export function useColumnChoice(): [Choice, (choice: Choice | undefined) => void] {
  const { path } = useLocation()
  const { name } = useSession()
  const [text, store] = useStoredText(`gateway-columns ${name} ${path}`)
  const set = (choice: Choice | undefined) => store(choice && JSON.stringify(choice))
  return [choiceIn(text), set]
}

export function ColumnMenu<T>({
  columns,
  choice,
  onChoice,
}: {
  columns: readonly Column<T>[]
  choice: Choice
  onChoice: (choice: Choice | undefined) => void
}) {
  const t = useMessages()
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="subtle" size="xs" color="gray">
          {t('columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('columns')}>
        <Stack gap="xs">
          {named(columns)
            .filter(({ title }) => title !== '')
            .map((column) => {
              const isOn = isChosen(column, choice)
              return (
                <Checkbox
                  key={column.id}
                  size="xs"
                  label={column.title}
                  checked={isOn}
                  onChange={() => onChoice({ ...choice, [column.id]: !isOn })}
                />
              )
            })}
          <Button
            variant="subtle"
            size="compact-xs"
            disabled={Object.keys(choice).length === 0}
            onClick={() => onChoice(undefined)}
          >
            {t('default_columns')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

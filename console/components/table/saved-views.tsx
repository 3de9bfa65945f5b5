// Filters under a name, stored in this browser for the signed-in person.
import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useLocation } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useStoredText } from '../../lib/storage.ts'
import { Icon } from '../icon.tsx'
import { NameForm } from '../name-form.tsx'

interface View {
  name: string
  values: Record<string, string>
}

const maxViews = 20

function viewsIn(text: string | undefined): View[] {
  try {
    const read = JSON.parse(text ?? '[]') as View[]
    return Array.isArray(read) ? read.filter((view) => typeof view?.name === 'string') : []
  } catch {
    return []
  }
}

/** `names`: the parameters of the address that belong to a view. */
export function SavedViews({ names }: { names: readonly string[] }) {
  const t = useMessages()
  const { path, query } = useLocation()
  const session = useSession()
  const [text, store] = useStoredText(`gateway-views ${session.name} ${path}`)
  const [isNaming, setNaming] = useState(false)
  const views = viewsIn(text)
  const write = (next: View[]) => store(next.length === 0 ? undefined : JSON.stringify(next))
  const now = Object.fromEntries(names.flatMap((name) => pairOf(name, query.get(name))))
  const show = ({ values }: View) =>
    setQuery(Object.fromEntries(names.map((name) => [name, values[name]])))
  const save = (name: string) => {
    const others = views.filter((view) => view.name !== name)
    write([...others, { name, values: now }].slice(-maxViews))
    setNaming(false)
  }
  if (isNaming) {
    return <NameForm label={t('view_name')} onName={save} onCancel={() => setNaming(false)} />
  }
  const canSave = Object.keys(now).length > 0
  if (views.length === 0 && !canSave) return null
  return (
    <Menu withinPortal>
      <Menu.Target>
        <Button variant="default" size="xs">
          {t('views')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {views.map((view) => (
          <Group key={view.name} gap={0} wrap="nowrap">
            <Menu.Item onClick={() => show(view)}>{view.name}</Menu.Item>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('forget_view', { name: view.name })}
              onClick={() => write(views.filter((each) => each !== view))}
            >
              <Icon name="close" size={12} />
            </ActionIcon>
          </Group>
        ))}
        {canSave && views.length > 0 && <Menu.Divider />}
        {canSave && <Menu.Item onClick={() => setNaming(true)}>{t('save_view')}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  )
}

const pairOf = (name: string, value: string | null): [string, string][] =>
  value === null ? [] : [[name, value]]

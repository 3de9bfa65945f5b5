// Downloads the whole list with its current filters: a table for spreadsheets, or lines of JSON.
import { Button, Menu } from '@mantine/core'
import { type Query, queryString } from '../../lib/api.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { Icon } from '../icon.tsx'

const messages = defineMessages({
  export: ['Export', '导出'],
  csv: ['CSV (spreadsheets)', 'CSV（电子表格）'],
  jsonl: ['JSON Lines (programs)', 'JSON Lines（程序处理）'],
})

export function ExportButton({
  path,
  filters = {},
  label,
  size = 'sm',
}: {
  /** Of the list in the admin API. */
  path: string
  filters?: Query
  label?: string
  size?: 'xs' | 'sm'
}) {
  const t = useMessages(messages)
  return (
    <Menu withinPortal>
      <Menu.Target>
        <Button variant="default" size={size} leftSection={<Icon name="download" size={16} />}>
          {label ?? t('export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(['csv', 'jsonl'] as const).map((format) => (
          <Menu.Item
            key={format}
            component="a"
            href={`/admin/v1${path}${queryString({ ...filters, format })}`}
            download
          >
            {t(format)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

// Details of one item, to the right of its list. The open item is part of the address, so it can be
// shared. Esc closes it.
import { Drawer, Group, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { privateColumns, useMessages } from '../lib/messages.ts'
import { privateClass } from '../lib/privacy.ts'

export function DetailsDrawer({
  title,
  isOpen,
  onClose,
  actions,
  size = 'xl',
  isLocked = false,
  children,
}: {
  title: ReactNode
  isOpen: boolean
  onClose: () => void
  actions?: ReactNode
  size?: string
  /** A dialog over it is open: Esc and a click beside are for that one. */
  isLocked?: boolean
  children: ReactNode
}) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size={size}
      title={title}
      closeOnEscape={!isLocked}
      closeOnClickOutside={!isLocked}
      overlayProps={{ backgroundOpacity: 0.1 }}
      transitionProps={{ duration: 120 }}
    >
      {actions !== undefined && (
        <Group gap="xs" mb="md">
          {actions}
        </Group>
      )}
      {children}
    </Drawer>
  )
}

/** Names and values; empty values are left out. */
export function PropertyList({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  const t = useMessages()
  const hidden = privateColumns(t)
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <Table withRowBorders={false} verticalSpacing={4} layout="fixed">
      <Table.Tbody>
        {shown.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Td w="35%">
              <Text size="sm" c="dimmed">
                {name}
              </Text>
            </Table.Td>
            <Table.Td
              style={{ overflowWrap: 'anywhere' }}
              {...(hidden.includes(name) && { className: privateClass })}
            >
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

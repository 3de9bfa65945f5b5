// A box that scrolls wide content, reachable by keyboard.
import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

export const ScrollBox = ({
  label,
  minWidth,
  maxHeight,
  children,
}: {
  label: string
  /** In pixels. */
  minWidth: number
  /** In CSS. */
  maxHeight?: string
  children: ReactNode
}) => (
  <Box tabIndex={0} role="region" aria-label={label} style={{ overflow: 'auto', maxHeight }}>
    <div style={{ minWidth }}>{children}</div>
  </Box>
)

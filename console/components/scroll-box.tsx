// A box that scrolls wide content, reachable by keyboard. On a narrow screen its tables are cards, which
// need no width.
import { Box } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'

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
    <div className="scroll-content" style={{ '--min-width': `${minWidth}px` } as CSSProperties}>
      {children}
    </div>
  </Box>
)

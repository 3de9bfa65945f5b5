// Which rows of a table are in sight, by TanStack Virtual: of the page, or of a box that scrolls by itself.
import { useVirtualizer, useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useRef } from 'react'

interface Options<T> {
  box: RefObject<HTMLDivElement | null>
  rows: readonly T[]
  rowKey: (row: T) => string
  isNarrow: boolean
  rowHeightPx: number
  /** Where the table begins, from the top of the page. */
  topPx: number
  isBoxed: boolean
}

interface RowsInSight {
  items: { index: number; key: string }[]
  /** Rows above and below that are not drawn. */
  beforePx: number
  afterPx: number
  measure: (element: HTMLElement | null) => void
}

/** Rows drawn above and below what is in sight. */
const overscan = 10
/** Until a card is measured. */
const cardHeightPx = 170

export function useRowsInSight<T>(options: Options<T>): RowsInSight {
  const { box, rows, rowKey, isNarrow, rowHeightPx, topPx, isBoxed } = options
  const common = {
    count: rows.length,
    estimateSize: () => (isNarrow ? cardHeightPx : rowHeightPx),
    getItemKey: (index: number) => rowKey(rows[index]!),
    overscan,
  }
  const own = useVirtualizer<HTMLDivElement, HTMLElement>({
    ...common,
    enabled: isBoxed,
    getScrollElement: () => box.current,
  })
  const page = useWindowVirtualizer<HTMLElement>({
    ...common,
    enabled: !isBoxed,
    scrollMargin: topPx,
    initialRect: { width: innerWidth, height: innerHeight },
  })
  useStableScroll(options)
  const virtualizer = isBoxed ? own : page
  const items = virtualizer.getVirtualItems()
  const marginPx = isBoxed ? 0 : topPx
  return {
    items: items.map(({ index }) => ({ index, key: rowKey(rows[index]!) })),
    beforePx: Math.max((items[0]?.start ?? marginPx) - marginPx, 0),
    afterPx: Math.max(virtualizer.getTotalSize() - ((items.at(-1)?.end ?? marginPx) - marginPx), 0),
    measure: virtualizer.measureElement,
  }
}

/** Keeps the rows in sight where they are when others are put on top. */
function useStableScroll<T>({ box, rows, rowKey, rowHeightPx, topPx, isBoxed }: Options<T>): void {
  const before = useRef({ first: '', count: 0 })
  useLayoutEffect(() => {
    const at = rows.findIndex((row) => rowKey(row) === before.current.first)
    const isScrolled = isBoxed ? (box.current?.scrollTop ?? 0) > 0 : scrollY > topPx
    if (at > 0 && rows.length > before.current.count && isScrolled) {
      const target = isBoxed ? box.current : window
      target?.scrollBy(0, at * rowHeightPx)
    }
    const [first] = rows
    before.current = { first: first === undefined ? '' : rowKey(first), count: rows.length }
  })
}

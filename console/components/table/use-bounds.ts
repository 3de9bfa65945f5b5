// How wide an element is, and how far below the top of the page, as both change.
import { type RefObject, useLayoutEffect, useState } from 'react'

interface Bounds {
  widthPx: number
  /** From the top of the document. */
  topPx: number
}

export function useBounds(box: RefObject<HTMLElement | null>): Bounds {
  const [bounds, setBounds] = useState<Bounds>({ widthPx: innerWidth, topPx: 0 })
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current === null) return
      const { width, top } = box.current.getBoundingClientRect()
      const next = { widthPx: Math.floor(width), topPx: Math.round(top + scrollY) }
      setBounds((now) => (now.widthPx === next.widthPx && now.topPx === next.topPx ? now : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    // What stands above the element moves it, and changes the height of the page.
    observer.observe(document.body)
    if (box.current !== null) observer.observe(box.current)
    return () => observer.disconnect()
  }, [box])
  return bounds
}

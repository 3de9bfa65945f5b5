// A chart drawn by uPlot. Loaded when the first chart is shown: it is the default export for `lazy`.
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { dataOf, optionsFor, type PlotProps } from './plot-options.ts'

export default function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const scheme = useComputedColorScheme('light')
  const widthPx = useWidth(box)
  const { kind, xs, series, heightPx, zone } = props
  // Drawn anew only for other data: lists are asked again every few seconds.
  const data = JSON.stringify([kind, xs, series, heightPx, zone, scheme])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `data` stands for the properties
  useEffect(() => {
    if (box.current === null || widthPx === 0) return
    const now = latest.current
    const options = optionsFor(box.current, {
      ...now,
      onCursor: (index, leftPx) => latest.current.onCursor?.(index, leftPx),
    })
    const plot = new uPlot(options, dataOf(now), box.current)
    const pick = () => {
      const { idx } = plot.cursor
      if (idx !== null && idx !== undefined) latest.current.onPick?.(idx)
    }
    plot.over.addEventListener('click', pick)
    return () => plot.destroy()
  }, [data, widthPx])
  return <div ref={box} style={{ height: heightPx, overflow: 'hidden' }} />
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [widthPx, setWidth] = useState(0)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return widthPx
}

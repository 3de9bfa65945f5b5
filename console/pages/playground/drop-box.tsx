// A place that files can be dropped on. Buttons inside do the same for the keyboard.
import { type DragEvent, type ReactNode, useState } from 'react'

export function DropBox({
  label,
  onFiles,
  children,
}: {
  label: string
  onFiles: (files: File[]) => void
  children: ReactNode
}) {
  const [isOver, setOver] = useState(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFiles([...event.dataTransfer.files])
  }
  return (
    <section
      className="drop-box"
      data-over={isOver || undefined}
      aria-label={label}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </section>
  )
}

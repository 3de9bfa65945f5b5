// A page that breaks says so in its own place; the way to the others stays.
import { Button, Stack } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { useWords } from '../lib/words.ts'
import { ErrorNote } from './page.tsx'
import { common } from './words.ts'

interface Broken {
  error: Error | undefined
}

export class Boundary extends Component<{ children: ReactNode }, Broken> {
  override state: Broken = { error: undefined }

  static getDerivedStateFromError(error: unknown): Broken {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <BrokenNote error={error} onAgain={() => this.setState({ error: undefined })} />
  }
}

function BrokenNote({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const say = useWords(common)
  return (
    <Stack align="flex-start">
      <ErrorNote error={error} />
      <Button variant="default" onClick={onAgain}>
        {say('again')}
      </Button>
    </Stack>
  )
}

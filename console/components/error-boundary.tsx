// Shows the error of a page that breaks; the navigation stays usable.
import { Button, Stack } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { useMessages } from '../lib/messages.ts'
import { ErrorAlert } from './page.tsx'

interface Broken {
  error: Error | undefined
}

export class ErrorBoundary extends Component<{ children: ReactNode }, Broken> {
  override state: Broken = { error: undefined }

  static getDerivedStateFromError(error: unknown): Broken {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <BrokenPage error={error} onAgain={() => this.setState({ error: undefined })} />
  }
}

function BrokenPage({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const t = useMessages()
  return (
    <Stack align="flex-start">
      <ErrorAlert error={error} />
      <Button variant="default" onClick={onAgain}>
        {t('again')}
      </Button>
    </Stack>
  )
}

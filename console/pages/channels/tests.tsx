// One cheap call to a channel, and what came of it.
import { Button, Group, Text, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useWords } from '../../lib/words.ts'
import { type Channel, errorText, type TestResult } from './channel.ts'
import { words } from './words.ts'

export interface Tests {
  results: Readonly<Record<string, TestResult | 'busy' | undefined>>
  run(channel: Channel): Promise<void>
  runAll(channels: readonly Channel[]): void
}

export function useTests(onDone: () => void): Tests {
  const [results, setResults] = useState<Tests['results']>({})
  const set = (id: string, result: TestResult | 'busy') =>
    setResults((before) => ({ ...before, [id]: result }))
  const run = async ({ id }: Channel) => {
    set(id, 'busy')
    try {
      set(id, await ask<TestResult>('POST', `/channels/${id}/test`))
    } catch (error) {
      set(id, { ok: false, error: (error as Error).message })
    }
    onDone()
  }
  return { results, run, runAll: (channels) => void Promise.all(channels.map(run)) }
}

export function TestCell({ channel, tests }: { channel: Channel; tests: Tests }) {
  const say = useWords(words)
  const format = useFormat()
  const result = tests.results[channel.id]
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        loading={result === 'busy'}
        onClick={(event) => {
          event.stopPropagation()
          void tests.run(channel)
        }}
      >
        {say('test')}
      </Button>
      {result !== undefined && result !== 'busy' && (
        <Tooltip label={errorText(result)} disabled={result.ok} multiline maw={400}>
          <Text size="sm" c={result.ok ? 'teal' : 'red'} truncate>
            {result.ok
              ? say('test_ok', { ms: format.ms(result.latency_ms) })
              : `${say('test_failed')}: ${errorText(result)}`}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}

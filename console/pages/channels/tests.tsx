// A small test call to a channel and its result; or to all channels, a few at a time.
import { Button, Group, Text, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Channel, errorText, type TestResult } from '../../lib/resources/channel.ts'
import { messages } from './messages.ts'

export interface Tests {
  results: Readonly<Record<string, TestResult | 'busy' | undefined>>
  /** While all are tested: how many are done, of how many. */
  progress: { done: number; of: number } | undefined
  run(channel: Channel, model?: string): Promise<void>
  runAll(channels: readonly Channel[]): Promise<void>
}

const concurrency = 4

export function useTests(onDone: () => void): Tests {
  const [results, setResults] = useState<Tests['results']>({})
  const [progress, setProgress] = useState<Tests['progress']>()
  const set = (id: string, result: TestResult | 'busy') =>
    setResults((before) => ({ ...before, [id]: result }))
  const test = async ({ id }: Channel, model?: string) => {
    set(id, 'busy')
    const body = model === undefined ? {} : { body: { model } }
    try {
      set(id, await api<TestResult>('POST', `/channels/${id}/test`, body))
    } catch (error) {
      set(id, { ok: false, error: (error as Error).message })
    }
  }
  const run = async (channel: Channel, model?: string) => {
    await test(channel, model)
    onDone()
  }
  const runAll = async (channels: readonly Channel[]) => {
    const waiting = [...channels]
    let done = 0
    setProgress({ done, of: channels.length })
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await test(next)
        done++
        setProgress({ done, of: channels.length })
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    setProgress(undefined)
    onDone()
  }
  return { results, progress, run, runAll }
}

export function hasFailed({ results }: Tests, { id }: Channel): boolean {
  const result = results[id]
  return result !== undefined && result !== 'busy' && !result.ok
}

/** Dark enough on white, light enough on black. */
const colors = {
  good: 'light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-4))',
  bad: 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))',
}

export function TestCell({
  channel,
  tests,
  model,
}: {
  channel: Channel
  tests: Tests
  /** Left out, the gateway picks one. */
  model?: string | undefined
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const result = tests.results[channel.id]
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        style={{ flexShrink: 0 }}
        loading={result === 'busy'}
        onClick={(event) => {
          event.stopPropagation()
          void tests.run(channel, model)
        }}
      >
        {t('test')}
      </Button>
      {result !== undefined && result !== 'busy' && (
        <Tooltip label={errorText(result)} disabled={result.ok} multiline maw={400}>
          <Text size="sm" c={result.ok ? colors.good : colors.bad} truncate>
            {result.ok
              ? t('test_ok', { ms: format.ms(result.latency_ms) })
              : `${t('test_failed')}: ${errorText(result)}`}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}

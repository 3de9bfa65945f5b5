// The turns of one model, and the fields for what its functions return.
import { Button, Stack, Text, Textarea } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import type { ToolCall, Turn } from './conversation.ts'
import { TurnView } from './turn-view.tsx'
import { type Lane, openCalls } from './use-lane.ts'

export function LaneView({
  lane,
  model,
  onAnswer,
  onAgain,
  onEdit,
}: {
  lane: Lane
  model: string
  onAnswer: (turn: Turn) => void
  onAgain: () => void
  /** Undefined where two models have been asked the same. */
  onEdit: ((at: number) => void) | undefined
}) {
  const t = useMessages(messages)
  const { turns, reports, isBusy } = lane
  const last = turns.length - 1
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isBusy) end.current?.scrollIntoView({ block: 'nearest' })
  }, [isBusy])
  const calls = openCalls(lane)
  return (
    <section aria-label={model} style={{ minWidth: 0 }}>
      <Stack gap="sm">
        {turns.length === 0 && <Text c="dimmed">{t('waiting')}</Text>}
        {turns.map((turn, at) => (
          <TurnView
            // biome-ignore lint/suspicious/noArrayIndexKey: turns come and go at the end only
            key={at}
            turn={turn}
            report={reports.get(at)}
            isBusy={isBusy && at === last}
            onEdit={!isBusy && onEdit ? () => onEdit(at) : undefined}
            onAgain={!isBusy && at === last ? onAgain : undefined}
          />
        ))}
        {calls.length > 0 && <CallAnswers key={last} calls={calls} onAnswer={onAnswer} />}
        <div ref={end} className="lane-end" />
      </Stack>
    </section>
  )
}

function CallAnswers({
  calls,
  onAnswer,
}: {
  calls: readonly ToolCall[]
  onAnswer: (turn: Turn) => void
}) {
  const t = useMessages(messages)
  const [texts, setTexts] = useState<readonly string[]>(calls.map(() => ''))
  const answers = calls.map(({ id, name }, at) => ({ id, name, text: texts[at] ?? '' }))
  return (
    <Stack gap="xs">
      {calls.map(({ id, name }, at) => (
        <Textarea
          key={id}
          label={t('returns', { name })}
          value={texts[at] ?? ''}
          autosize
          minRows={2}
          maxRows={8}
          classNames={{ input: privateClass }}
          onChange={(event) => {
            const text = event.currentTarget.value
            setTexts((before) => before.map((each, i) => (i === at ? text : each)))
          }}
        />
      ))}
      <Button
        variant="default"
        style={{ alignSelf: 'flex-start' }}
        disabled={texts.some((text) => text.trim() === '')}
        onClick={() => onAnswer({ role: 'tool', answers })}
      >
        {t('return_results')}
      </Button>
    </Stack>
  )
}

// Cancels several selected tasks. Each is a request of its own, so that one refusal does not stop the
// others.
import { Alert, Button, Group, List, Text } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../components/confirm.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { isLive, type Task } from '../../lib/resources/task.ts'
import { messages } from './messages.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  set(ids: Iterable<string>): void
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return {
    ids,
    set: (next) => setIds(new Set(next)),
    toggle: (id) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setIds(next)
    },
  }
}

/** Asked at the same time. */
const concurrency = 4

interface Failure {
  id: string
  why: string
}

export function BulkCancel({
  rows,
  selection,
  onDone,
}: {
  rows: readonly Task[]
  selection: Selection
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [isAsking, setAsking] = useState(false)
  const [failures, setFailures] = useState<readonly Failure[]>([])
  const live = rows.filter(isLive)
  // What has ended meanwhile is no longer there to be cancelled.
  const chosen = live.filter(({ id }) => selection.ids.has(id)).map(({ id }) => id)
  if (live.length < 2 && chosen.length + failures.length === 0) return null
  const cancel = async () => {
    setFailures(await cancelAll(chosen))
    selection.set([])
    onDone()
  }
  return (
    <>
      <Group gap="xs" role="group" aria-label={t('bulk')}>
        {live.length > 1 && chosen.length < live.length && (
          <Button
            size="xs"
            variant="subtle"
            onClick={() => selection.set(live.map(({ id }) => id))}
          >
            {t('select_all', { n: live.length })}
          </Button>
        )}
        {chosen.length > 0 && (
          <>
            <Button size="xs" variant="subtle" onClick={() => selection.set([])}>
              {t('select_none')}
            </Button>
            <Button size="xs" color="red" variant="light" onClick={() => setAsking(true)}>
              {t('cancel_many', { n: chosen.length })}
            </Button>
          </>
        )}
      </Group>
      {failures.length > 0 && (
        <Alert
          color="orange"
          title={t('not_cancelled', { n: failures.length })}
          withCloseButton
          onClose={() => setFailures([])}
        >
          <List size="sm">
            {failures.map(({ id, why }) => (
              <List.Item key={id}>
                <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {id}: {why}
                </Text>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Confirm
        title={t('cancel_many', { n: chosen.length })}
        text={t('cancel_text')}
        action={t('cancel_many', { n: chosen.length })}
        keep={t('keep_many')}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={cancel}
      />
    </>
  )
}

async function cancelAll(ids: readonly string[]): Promise<Failure[]> {
  const failures: Failure[] = []
  const waiting = [...ids]
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await api('POST', `/tasks/${encodeURIComponent(id)}/cancel`)
      } catch (error) {
        failures.push({ id, why: (error as Error).message })
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return failures
}

// Actions on the selected rows of a list, after one confirmation that counts them. Each row is a request of its own, so that
// one refusal does not stop the others; what was refused is told row by row.
import { Alert, Button, Group, List, Text } from '@mantine/core'
import { useState } from 'react'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { Confirm } from '../confirm.tsx'
import { offerUndo } from '../undo/offer.ts'
import type { Selection } from './selection.tsx'

const messages = defineMessages({
  selected: ['Selected rows', '已选的行'],
  select_all: ['Select all {n}', '全选 {n} 个'],
  select_none: ['Clear selection', '清除选择'],
  not_done: ['{n} could not be changed', '{n} 个未能更改'],
  keep: ['Change nothing', '不更改'],
})

interface Row {
  id: string
}

export interface BulkAction<T> {
  /** On the button, and in the confirmation: the selected rows that it applies to are counted. */
  label: (n: number) => string
  /** What it means. */
  text: string
  isDangerous?: boolean
  appliesTo: (row: T) => boolean
  run: (row: T) => Promise<unknown>
  /** What is said afterwards. */
  done: (n: number) => string
  /** For what can be undone. */
  undo?: (row: T) => Promise<unknown>
  /** One after the other, in the order of the rows; undone from the last one on. */
  isInTurn?: boolean
}

interface Props<T extends Row> {
  /** Those that can be selected. */
  rows: readonly T[]
  selection: Selection
  nameOf: (row: T) => string
  actions: readonly BulkAction<T>[]
  onDone: () => void
  /** Of the group of buttons. */
  label?: string
  selectAll?: (n: number) => string
  keep?: string
  failed?: (n: number) => string
}

interface Failure {
  name: string
  why: string
}

export function BulkActions<T extends Row>(props: Props<T>) {
  const { rows, selection, nameOf, actions, onDone } = props
  const t = useMessages(messages)
  const [asked, setAsked] = useState<BulkAction<T>>()
  const [failures, setFailures] = useState<readonly Failure[]>([])
  // What has changed meanwhile is no longer there to be selected.
  const chosen = rows.filter(({ id }) => selection.ids.has(id))
  if (rows.length < 2 && chosen.length + failures.length === 0) return null
  const concerned = asked === undefined ? [] : chosen.filter(asked.appliesTo)
  const label = asked?.label(concerned.length) ?? ''
  const run = async () => {
    if (asked === undefined) return
    const refused = await runAll(concerned, asked.run, asked.isInTurn)
    setFailures([...refused].map(([row, why]) => ({ name: nameOf(row), why })))
    const changed = concerned.filter((row) => !refused.has(row))
    selection.set([])
    onDone()
    offer(asked, changed, onDone)
  }
  return (
    <>
      <Group gap="xs" role="group" aria-label={props.label ?? t('selected')}>
        {rows.length > 1 && chosen.length < rows.length && (
          <Button
            size="xs"
            variant="subtle"
            onClick={() => selection.set(rows.map(({ id }) => id))}
          >
            {props.selectAll?.(rows.length) ?? t('select_all', { n: rows.length })}
          </Button>
        )}
        {chosen.length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => selection.set([])}>
            {t('select_none')}
          </Button>
        )}
        {actions.map((action) => {
          const n = chosen.filter(action.appliesTo).length
          return n === 0 ? null : (
            <Button
              key={action.text}
              size="xs"
              variant={action.isDangerous ? 'light' : 'default'}
              {...(action.isDangerous && { color: 'red' })}
              onClick={() => setAsked(action)}
            >
              {action.label(n)}
            </Button>
          )
        })}
      </Group>
      {failures.length > 0 && (
        <Failures
          failures={failures}
          title={props.failed?.(failures.length) ?? t('not_done', { n: failures.length })}
          onClose={() => setFailures([])}
        />
      )}
      <Confirm
        title={label}
        text={asked?.text ?? ''}
        action={label}
        isFinal={asked !== undefined && asked.undo === undefined}
        keep={props.keep ?? t('keep')}
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={run}
      />
    </>
  )
}

function offer<T>(
  { done, undo, isInTurn }: BulkAction<T>,
  changed: readonly T[],
  onDone: () => void,
): void {
  if (changed.length === 0) return
  const back = async (action: NonNullable<typeof undo>) => {
    const refused = await runAll(changed.toReversed(), action, isInTurn)
    onDone()
    const [why] = refused.values()
    if (why !== undefined) throw new Error(why)
  }
  offerUndo(done(changed.length), undo && (() => back(undo)))
}

function Failures({
  failures,
  title,
  onClose,
}: {
  failures: readonly Failure[]
  title: string
  onClose: () => void
}) {
  return (
    <Alert color="orange" title={title} withCloseButton onClose={onClose}>
      <List size="sm">
        {failures.map(({ name, why }) => (
          <List.Item key={name}>
            <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
              {name}: {why}
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** Asked at the same time. */
const concurrency = 4

/** Gives those that were refused, and why. */
async function runAll<T>(
  rows: readonly T[],
  run: (row: T) => Promise<unknown>,
  isInTurn = false,
): Promise<Map<T, string>> {
  const refused = new Map<T, string>()
  const waiting = [...rows]
  const worker = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      try {
        await run(row)
      } catch (error) {
        refused.set(row, (error as Error).message)
      }
    }
  }
  await Promise.all(Array.from({ length: isInTurn ? 1 : concurrency }, worker))
  return refused
}

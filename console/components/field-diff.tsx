// Changes field by field, before beside after. Values are shown as JSON, so that a text
// cannot pass for anything else.
import { Box } from '@mantine/core'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { SimpleTable } from './table/simple-table.tsx'

interface FieldChange {
  field: string
  /** Undefined: it was not there. */
  before: unknown
  after: unknown
}

const maxDepth = 6

/** Objects taken apart: `timeouts.first_byte` and its value. */
function leavesOf(value: unknown, path = '', depth = 0): Map<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject || depth > maxDepth || Object.keys(value).length === 0) {
    return new Map(path === '' ? [] : [[path, value]])
  }
  return new Map(
    Object.entries(value).flatMap(([name, each]) => [
      ...leavesOf(each, path === '' ? name : `${path}.${name}`, depth + 1),
    ]),
  )
}

export function changesBetween(before: unknown, after: unknown): FieldChange[] {
  const [was, is] = [leavesOf(before), leavesOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  return names.map((field) => ({ field, before: was.get(field), after: is.get(field) }))
}

export const isChanged = ({ before, after }: FieldChange): boolean =>
  JSON.stringify(before) !== JSON.stringify(after)

const messages = defineMessages({
  changes: ['Changes', '变更内容'],
  field: ['Field', '字段'],
  before: ['Before', '变更前'],
  after: ['After', '变更后'],
})

export function FieldDiff({ changes }: { changes: readonly FieldChange[] }) {
  const t = useMessages(messages)
  return (
    <SimpleTable
      label={t('changes')}
      minWidth={360}
      rows={changes}
      rowKey={({ field }) => field}
      columns={[
        { title: t('field'), cell: ({ field }) => field },
        { title: t('before'), cell: (change) => <Side as="del" change={change} side="before" /> },
        { title: t('after'), cell: (change) => <Side as="ins" change={change} side="after" /> },
      ]}
    />
  )
}

const colors = { del: 'var(--mantine-color-red-light)', ins: 'var(--mantine-color-teal-light)' }

function Side({
  as,
  change,
  side,
}: {
  as: 'del' | 'ins'
  change: FieldChange
  side: 'before' | 'after'
}) {
  const { [side]: value } = change
  if (value === undefined) return <span className="zero">–</span>
  const isMarked = isChanged(change)
  return (
    <Box
      component={isMarked ? as : 'span'}
      px={4}
      style={{
        background: isMarked ? colors[as] : undefined,
        textDecoration: 'none',
        fontFamily: 'var(--mantine-font-family-monospace)',
        fontSize: 'var(--mantine-font-size-xs)',
        whiteSpace: 'pre-wrap',
        overflowWrap: 'anywhere',
      }}
    >
      {JSON.stringify(value)}
    </Box>
  )
}

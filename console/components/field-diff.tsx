// Changes field by field, marked by signs as well as by color. Values are shown as JSON, so that a text
// cannot pass for anything else.
import { Box, Stack, Text } from '@mantine/core'

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

export const FieldDiff = ({ changes }: { changes: readonly FieldChange[] }) => (
  <Stack gap="xs">
    {changes.map((change) => (
      <div key={change.field}>
        <Text size="sm" fw={600}>
          {change.field}
        </Text>
        {isChanged(change) ? (
          <>
            {change.before !== undefined && <Side as="del" value={change.before} />}
            {change.after !== undefined && <Side as="ins" value={change.after} />}
          </>
        ) : (
          <Side value={change.after} />
        )}
      </div>
    ))}
  </Stack>
)

const styles = {
  del: { sign: '−', color: 'var(--mantine-color-red-light)' },
  ins: { sign: '+', color: 'var(--mantine-color-teal-light)' },
}

function Side({ as, value }: { as?: 'del' | 'ins'; value: unknown }) {
  const { sign, color } = as === undefined ? { sign: ' ', color: undefined } : styles[as]
  return (
    <Box
      component={as ?? 'div'}
      px="xs"
      style={{
        display: 'block',
        background: color,
        textDecoration: 'none',
        fontFamily: 'var(--mantine-font-family-monospace)',
        fontSize: 'var(--mantine-font-size-xs)',
        whiteSpace: 'pre-wrap',
        overflowWrap: 'anywhere',
      }}
    >
      {sign} {JSON.stringify(value)}
    </Box>
  )
}

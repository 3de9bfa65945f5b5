// The vectors of an answer: how long each is, and how alike any two are.
import { Stack, Table, Text } from '@mantine/core'
import { privateClass } from '../../lib/privacy.ts'
import { useWords } from '../../lib/words.ts'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { figures } from '../../parts/values.tsx'
import { cosine, inputsIn, norm, vectorsIn } from './vectors.ts'
import { words } from './words.ts'

/** More cannot be compared by eye. */
const mostShown = 16

export function VectorsView({ body, sent }: { body: unknown; sent: unknown }) {
  const say = useWords(words)
  const all = vectorsIn(body)
  const inputs = inputsIn(sent)
  const shown = all.slice(0, mostShown).map((vector, i) => ({
    ...{ vector, number: i + 1, input: inputs[i] ?? '' },
  }))
  return (
    <Stack gap="xs">
      <Text fw={600}>{say('alike')}</Text>
      <ScrollBox label={say('alike')} minWidth={260 + 62 * shown.length}>
        <Table withTableBorder withColumnBorders verticalSpacing={4} horizontalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{say('of')}</Table.Th>
              <Table.Th scope="col">{say('norm')}</Table.Th>
              {shown.map(({ number, input }) => (
                <Table.Th key={number} scope="col" title={input}>
                  {number}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(({ vector, number, input }) => (
              <Table.Tr key={number}>
                <Table.Th scope="row" style={{ maxWidth: 170, fontWeight: 400 }}>
                  <Text size="sm" truncate title={input}>
                    {number} <span className={privateClass}>{input}</span>
                  </Text>
                </Table.Th>
                <Table.Td style={figures}>{norm(vector).toFixed(4)}</Table.Td>
                {shown.map((other) => (
                  <Likeness key={other.number} value={cosine(vector, other.vector)} />
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollBox>
      <Text size="xs" c="dimmed">
        {say('vectors', { n: all.length, size: all[0]?.length ?? 0 })}
        {all.length > mostShown && ` ${say('vectors_more', { n: mostShown })}`}
      </Text>
    </Stack>
  )
}

/** The more alike, the stronger; the number says it all the same. */
const Likeness = ({ value }: { value: number }) => (
  <Table.Td
    style={{
      ...figures,
      background: `rgba(76, 110, 245, ${(0.35 * Math.max(0, value)).toFixed(3)})`,
    }}
  >
    {value.toFixed(3)}
  </Table.Td>
)

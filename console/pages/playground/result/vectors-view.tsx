// The vectors of an answer: their norms and cosine similarities.
import { Stack, Table, Text } from '@mantine/core'
import { ScrollBox } from '../../../components/scroll-box.tsx'
import { tabularNumbers } from '../../../components/values.tsx'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import { cosine, inputsIn, norm, vectorsIn } from './vectors.ts'

/** More cannot be compared by eye. */
const maxShown = 16

export function VectorsView({ body, sent }: { body: unknown; sent: unknown }) {
  const t = useMessages(messages)
  const all = vectorsIn(body)
  const inputs = inputsIn(sent)
  const shown = all.slice(0, maxShown).map((vector, i) => ({
    ...{ vector, number: i + 1, input: inputs[i] ?? '' },
  }))
  return (
    <Stack gap="xs">
      <Text fw={600}>{t('alike')}</Text>
      <ScrollBox label={t('alike')} minWidth={260 + 62 * shown.length}>
        <Table withTableBorder withColumnBorders verticalSpacing={4} horizontalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('of')}</Table.Th>
              <Table.Th scope="col">{t('norm')}</Table.Th>
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
                <Table.Td style={tabularNumbers}>{norm(vector).toFixed(4)}</Table.Td>
                {shown.map((other) => (
                  <SimilarityCell key={other.number} value={cosine(vector, other.vector)} />
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollBox>
      <Text size="xs" c="dimmed">
        {t('vectors', { n: all.length, size: all[0]?.length ?? 0 })}
        {all.length > maxShown && ` ${t('vectors_more', { n: maxShown })}`}
      </Text>
    </Stack>
  )
}

/** The more alike, the stronger; the number says it all the same. */
const SimilarityCell = ({ value }: { value: number }) => (
  <Table.Td
    style={{
      ...tabularNumbers,
      background: `rgba(76, 110, 245, ${(0.35 * Math.max(0, value)).toFixed(3)})`,
    }}
  >
    {value.toFixed(3)}
  </Table.Td>
)

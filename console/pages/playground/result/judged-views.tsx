// Texts that a model put in order or judged: documents with the best first, and the categories of texts.
import { Group, Progress, Stack, Table, Text } from '@mantine/core'
import { ScrollBox } from '../../../components/scroll-box.tsx'
import { State, tabularNumbers } from '../../../components/values.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import { categoriesIn, rankedIn, textsIn } from './judged.ts'

interface JudgedProps {
  body: unknown
  sent: unknown
}

export function RankingView({ body, sent }: JudgedProps) {
  const t = useMessages(messages)
  const format = useFormat()
  const results = rankedIn(body)
  const documents = textsIn(sent, 'documents')
  const best = Math.max(...results.map(({ score }) => score), 1e-9)
  return (
    <ScrollBox label={t('ranking')} minWidth={360}>
      <Table aria-label={t('ranking')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('rank')}</Table.Th>
            <Table.Th scope="col">{t('document')}</Table.Th>
            <Table.Th scope="col" ta="right">
              {t('score')}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {results.map(({ index, score }, at) => (
            <Table.Tr key={index}>
              <Table.Td w={60} style={tabularNumbers}>
                {format.number(at + 1)}
              </Table.Td>
              <Table.Td className={privateClass} style={{ overflowWrap: 'anywhere' }}>
                {documents[index] ?? t('document_number', { n: index + 1 })}
              </Table.Td>
              <Table.Td w={130} style={tabularNumbers} ta="right">
                {format.number(score)}
                <Progress size={3} value={(score / best) * 100} aria-hidden="true" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}

/** Categories that are far from being met say nothing. */
const minScore = 0.01
const maxShown = 4

export function ModerationView({ body, sent }: JudgedProps) {
  const t = useMessages(messages)
  const format = useFormat()
  const texts = textsIn(sent, 'input')
  return (
    <Stack gap="sm">
      {categoriesIn(body).map(({ isFlagged, categories }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: results have the order of the texts
        <div key={at} className="call">
          <Text size="sm" className={privateClass} style={{ overflowWrap: 'anywhere' }}>
            {texts[at] ?? t('document_number', { n: at + 1 })}
          </Text>
          <Group gap="md">
            <State
              state={isFlagged ? 'failed' : 'good'}
              label={t(isFlagged ? 'flagged' : 'not_flagged')}
            />
            {categories
              .filter(({ isMet, score }) => isMet || score >= minScore)
              .slice(0, maxShown)
              .map(({ name, score, isMet }) => (
                <Text key={name} size="sm" fw={isMet ? 600 : 400} lang="en">
                  {name} {format.percent(score)}
                </Text>
              ))}
          </Group>
        </div>
      ))}
    </Stack>
  )
}

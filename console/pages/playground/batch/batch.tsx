// A file of calls: checked line by line, sent, followed to its end, and its results taken along.
import { Alert, Button, FileButton, Grid, Group, List, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { ErrorAlert } from '../../../components/page.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { useQueryValue } from '../../../lib/router.tsx'
import { useAction } from '../../../lib/use-action.ts'
import { DropBox } from '../drop-box.tsx'
import { messages } from '../messages.ts'
import { keepTitle } from '../request/drafts.ts'
import { endpoints } from '../request/endpoints.ts'
import { useModels } from '../request/options.ts'
import { PayerFields, usePayer } from '../request/payer.tsx'
import { BatchProgress } from './batch-progress.tsx'
import { type Checked, checkLines, maxBytes, maxLines, sampleLines } from './lines.ts'
import { startBatch } from './start.ts'

interface Chosen {
  file: File
  /** Undefined: too large to be read. */
  checked: Checked | undefined
}

const chat = endpoints[0]!

/** A batch runs for a day at most, and each of its lines needs the token. */
const batchMs = 25 * 3_600_000

export default function BatchView() {
  const t = useMessages(messages)
  const payer = usePayer()
  const { first } = useModels(chat, payer.account)
  const [chosen, setChosen] = useState<Chosen>()
  const [id, setId] = useQueryValue('batch')
  const { error, isBusy, run } = useAction()
  useEffect(() => keepTitle('Batch'), [])
  const choose = async (file: File | null | undefined) => {
    if (!file) return
    const checked = file.size > maxBytes ? undefined : checkLines(await file.text())
    setChosen({ file, checked })
  }
  const sample = () => {
    const text = sampleLines(first ?? '')
    void choose(new File([text], 'sample.jsonl', { type: 'application/jsonl' }))
  }
  const start = (file: File, url: string) =>
    run(async () => {
      setId(await startBatch(await payer.secret(batchMs), file, url))
      // So that a second click does not start it again.
      setChosen(undefined)
    })
  const url = chosen === undefined ? undefined : startable(chosen)
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          <Text size="sm" c="dimmed">
            {t('batch_hint')}
          </Text>
          <PayerFields payer={payer} />
          <DropBox label={t('batch_file')} onFiles={([file]) => void choose(file)}>
            <Text size="sm">{t('drop_lines')}</Text>
            <Group gap="xs">
              <FileButton accept=".jsonl,.ndjson,.txt,application/jsonl" onChange={choose}>
                {(props) => (
                  <Button {...props} size="xs" variant="default">
                    {t('choose_file')}
                  </Button>
                )}
              </FileButton>
              <Button size="xs" variant="default" disabled={first === undefined} onClick={sample}>
                {t('sample_file')}
              </Button>
            </Group>
          </DropBox>
          {chosen !== undefined && <FileReport chosen={chosen} />}
          <Group className="send-row">
            <Button
              loading={isBusy}
              disabled={url === undefined || !payer.isReady}
              onClick={() => url !== undefined && chosen && void start(chosen.file, url)}
            >
              {t('start_batch')}
            </Button>
          </Group>
          <ErrorAlert error={error} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        {id === undefined ? (
          <Text c="dimmed">{t('waiting')}</Text>
        ) : (
          <BatchProgress key={id} id={id} payer={payer} />
        )}
      </Grid.Col>
    </Grid>
  )
}

function startable({ checked }: Chosen): string | undefined {
  if (checked === undefined || checked.lines > maxLines) return undefined
  return checked.mistakes.length === 0 ? checked.url : undefined
}

const maxShown = 10

function FileReport({ chosen: { file, checked } }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const format = useFormat()
  const name = `${file.name}, ${format.size(file.size)}`
  if (checked === undefined || checked.lines > maxLines) {
    return <Alert color="red">{t('file_too_large', { name })}</Alert>
  }
  const { lines, url, models, mistakes } = checked
  if (lines === 0) return <Alert color="red">{t('file_empty', { name })}</Alert>
  if (mistakes.length === 0) {
    return (
      <Alert color="teal" title={name}>
        {t('file_good', {
          lines: format.number(lines),
          url: url ?? '',
          models: models.join(', '),
        })}
      </Alert>
    )
  }
  return (
    <Alert color="red" title={name}>
      {t('file_bad', { n: format.number(mistakes.length), lines: format.number(lines) })}
      <List size="sm" mt="xs">
        {mistakes.slice(0, maxShown).map(({ line, mistake }) => (
          <List.Item key={line}>{t('line', { n: line, what: t(`mistake_${mistake}`) })}</List.Item>
        ))}
      </List>
      {mistakes.length > maxShown && '…'}
    </Alert>
  )
}

// Prices from a file: a list of the gateway, or a public price file with a margin and a rate. Both end in
// the list to review; nothing is saved before.
import {
  Alert,
  FileInput,
  List,
  NumberInput,
  Select,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import type { SourceList } from '../../../src/admin/price-sources/source-schema.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { PriceList } from '../../lib/resources/price.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { Bulk, type BulkProps } from './bulk.tsx'
import { messages } from './messages.ts'

const sources = ['list', 'models.dev', 'litellm'] as const
type Source = (typeof sources)[number]

const noOptions = { margin: '', rate: '', only: '' }

export function ImportPrices(props: BulkProps) {
  const t = useMessages(messages)
  const [file, setFile] = useState<File | null>(null)
  const [source, setSource] = useState<Source>('list')
  const [options, setOptions] = useState(noOptions)
  const [places, setPlaces] = useState<number>(6)
  const [remarks, setRemarks] = useState<readonly string[]>([])
  const makeList = async (): Promise<PriceList> => {
    const text = (await file?.text()) ?? ''
    setRemarks([])
    if (source === 'list') {
      return { format: /\.csv$/i.test(file?.name ?? '') ? 'csv' : 'yaml', text }
    }
    const given = Object.entries(options).filter(([, value]) => value !== '')
    const body = { source, text, round: places, ...Object.fromEntries(given) }
    const made = await api<SourceList>('POST', '/prices/convert', { body })
    setRemarks(made.remarks)
    return { format: 'yaml', text: made.text }
  }
  return (
    <Bulk
      {...props}
      title={t('import')}
      onReset={() => {
        setFile(null)
        setRemarks([])
      }}
      canGoOn={file !== null}
      makeList={makeList}
      remarks={<Remarks remarks={remarks} />}
    >
      <Select
        label={t('source_kind')}
        allowDeselect={false}
        data={sources.map((value) => ({ value, label: t(`from_${value}`) }))}
        value={source}
        onChange={(value) => setSource(sources.find((each) => each === value) ?? 'list')}
      />
      <Text size="sm">{t(source === 'list' ? 'import_hint' : 'source_hint')}</Text>
      <FileInput
        label={t('file')}
        placeholder={t('choose_file')}
        accept={source === 'list' ? '.csv,.yaml,.yml,.json,text/csv,application/yaml' : '.json'}
        required
        value={file}
        onChange={setFile}
      />
      {source !== 'list' && (
        <SourceOptions
          options={options}
          onChange={setOptions}
          places={places}
          onPlaces={setPlaces}
        />
      )}
    </Bulk>
  )
}

function SourceOptions({
  options,
  onChange,
  places,
  onPlaces,
}: {
  options: typeof noOptions
  onChange: (options: typeof noOptions) => void
  places: number
  onPlaces: (places: number) => void
}) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const field = (name: keyof typeof noOptions, placeholder: string) => (
    <TextInput
      label={t(name, { currency })}
      placeholder={placeholder}
      {...(name !== 'only' && { inputMode: 'decimal' as const })}
      value={options[name]}
      onChange={(event) => onChange({ ...options, [name]: event.currentTarget.value.trim() })}
    />
  )
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {field('rate', '1')}
      {field('margin', '1.2')}
      <NumberInput
        label={t('round')}
        min={0}
        max={9}
        allowDecimal={false}
        value={places}
        onChange={(value) => onPlaces(Number(value))}
      />
      {field('only', 'openai/*')}
    </SimpleGrid>
  )
}

const maxRemarks = 20
const maxLength = 300

const shortened = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)} …` : text

function Remarks({ remarks }: { remarks: readonly string[] }) {
  const t = useMessages(messages)
  const server = useServerText()
  if (remarks.length === 0) return null
  return (
    <Alert color="yellow" title={t('remarks')}>
      <List size="sm">
        {remarks.slice(0, maxRemarks).map((remark) => (
          <List.Item key={remark} style={{ overflowWrap: 'anywhere' }}>
            {shortened(server.sentence(remark))}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

// The configuration as YAML: effective, as in the file, and the difference.
import { Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { CopyBlock } from '../../components/copy.tsx'
import { Panel } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { downloadText } from '../../lib/download.ts'
import { useMessages } from '../../lib/messages.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { type DiffLine, diffLines } from './line-diff.ts'
import { messages } from './messages.ts'

const views = ['effective', 'file', 'difference'] as const
type View = (typeof views)[number]

export function ConfigYaml({ yaml }: { yaml: { file: string; effective: string } }) {
  const t = useMessages(messages)
  const [asked, setView] = useQueryValue('yaml')
  const view: View = views.find((each) => each === asked) ?? 'effective'
  return (
    <Panel title={t('config')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t('config_hint')}
        </Text>
        <Group justify="space-between">
          <SegmentedControl
            aria-label={t('config')}
            value={view}
            onChange={setView}
            data={views.map((each) => ({ value: each, label: t(each) }))}
          />
          <Button
            variant="default"
            onClick={() =>
              downloadText('gateway.yaml', yaml[view === 'file' ? 'file' : 'effective'])
            }
          >
            {t('save_yaml')}
          </Button>
        </Group>
        {view === 'difference' ? (
          <Difference lines={diffLines(yaml.file, yaml.effective)} />
        ) : (
          <CopyBlock text={yaml[view]} label={t(view)} />
        )}
      </Stack>
    </Panel>
  )
}

const colors = {
  ' ': undefined,
  '+': 'var(--mantine-color-teal-light)',
  '-': 'var(--mantine-color-red-light)',
}

function Difference({ lines }: { lines: readonly DiffLine[] }) {
  const t = useMessages(messages)
  if (lines.every(({ sign }) => sign === ' ')) return <Text>{t('no_difference')}</Text>
  return (
    <ScrollBox label={t('difference')} minWidth={280} maxHeight="420px">
      {lines.map(({ sign, text }, i) => (
        <Box
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
          key={i}
          px="xs"
          style={{
            background: colors[sign],
            fontFamily: 'var(--mantine-font-family-monospace)',
            fontSize: 'var(--mantine-font-size-xs)',
            whiteSpace: 'pre-wrap',
            overflowWrap: 'anywhere',
          }}
        >
          {sign === '-' ? '−' : sign} {text}
        </Box>
      ))}
    </ScrollBox>
  )
}

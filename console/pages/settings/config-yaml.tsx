// The configuration as YAML: in force, as the file has it, and what lies between the two.
import { Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Panel } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { saveText } from '../channels/yaml.ts'
import { type DiffLine, diffLines } from './line-diff.ts'
import { words } from './words.ts'

const views = ['effective', 'file', 'difference'] as const
type View = (typeof views)[number]

export function ConfigYaml({ yaml }: { yaml: { file: string; effective: string } }) {
  const say = useWords(words)
  const [asked, setView] = useQueryValue('yaml')
  const view: View = views.find((each) => each === asked) ?? 'effective'
  return (
    <Panel title={say('config')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {say('config_hint')}
        </Text>
        <Group justify="space-between">
          <SegmentedControl
            aria-label={say('config')}
            value={view}
            onChange={setView}
            data={views.map((each) => ({ value: each, label: say(each) }))}
          />
          <Button
            variant="default"
            onClick={() => saveText('gateway.yaml', yaml[view === 'file' ? 'file' : 'effective'])}
          >
            {say('save_yaml')}
          </Button>
        </Group>
        {view === 'difference' ? (
          <Difference lines={diffLines(yaml.file, yaml.effective)} />
        ) : (
          <CopyBlock text={yaml[view]} label={say(view)} />
        )}
      </Stack>
    </Panel>
  )
}

const colours = {
  ' ': undefined,
  '+': 'var(--mantine-color-teal-light)',
  '-': 'var(--mantine-color-red-light)',
}

function Difference({ lines }: { lines: readonly DiffLine[] }) {
  const say = useWords(words)
  if (lines.every(({ sign }) => sign === ' ')) return <Text>{say('no_difference')}</Text>
  return (
    <ScrollBox label={say('difference')} minWidth={280} maxHeight="420px">
      {lines.map(({ sign, text }, i) => (
        <Box
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
          key={i}
          px="xs"
          style={{
            background: colours[sign],
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

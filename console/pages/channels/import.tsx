// Channels from YAML: first the changes, then all of them or none.

import {
  Alert,
  Badge,
  Button,
  FileButton,
  Group,
  Modal,
  Stack,
  Text,
  Textarea,
} from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PlannedChannel as Planned } from '../../../src/admin/catalog/channel-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { changesBetween, FieldDiff, isChanged } from '../../components/field-diff.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

interface Props {
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function ImportChannels(props: Props) {
  const t = useMessages(messages)
  return (
    <Modal
      opened={props.isOpen}
      onClose={props.onClose}
      title={t('import')}
      size="xl"
      closeOnClickOutside={false}
    >
      {props.isOpen && <Steps {...props} />}
    </Modal>
  )
}

function Steps({ onClose, onDone }: Props) {
  const t = useMessages(messages)
  const [yaml, setYaml] = useState('')
  const [plan, setPlan] = useState<Planned[]>()
  const queryClient = useQueryClient()
  const write = (text: string) => {
    setYaml(text)
    setPlan(undefined)
  }
  const isNeeded = plan?.some(({ change }) => change === 'new' || change === 'changed') === true
  const isWrong = plan?.some(({ change }) => change === 'refused') === true
  const isReady = isNeeded && !isWrong
  const submit = async () => {
    const body = { yaml, dry_run: !isReady }
    const { channels } = await api<{ channels: Planned[] }>('POST', '/channels/import', { body })
    if (!isReady) return setPlan(channels)
    await queryClient.invalidateQueries({ queryKey: ['session'] })
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={isReady ? t('save') : t('compare')} onSubmit={submit} onCancel={onClose}>
      <Text size="sm">{t('import_hint')}</Text>
      <FileButton
        accept=".yaml,.yml,.json,application/yaml"
        onChange={(file) => void file?.text().then(write)}
      >
        {(props) => (
          <Button {...props} variant="default" style={{ alignSelf: 'flex-start' }}>
            {t('choose_file')}
          </Button>
        )}
      </FileButton>
      <Textarea
        label="YAML"
        required
        autosize
        minRows={6}
        maxRows={14}
        spellCheck={false}
        classNames={{ input: 'private' }}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={yaml}
        onChange={(event) => write(event.currentTarget.value)}
      />
      <div aria-live="polite">{plan !== undefined && <Plan plan={plan} />}</div>
    </ActionForm>
  )
}

const colors = { new: 'teal', changed: 'blue', same: 'gray', skipped: 'gray', refused: 'red' }

function Plan({ plan }: { plan: readonly Planned[] }) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <Stack>
      {plan.every(({ change }) => change === 'same' || change === 'skipped') && (
        <Alert color="gray">{t('import_nothing')}</Alert>
      )}
      {plan.map(({ name, change, fields, problem }) => (
        <Stack key={name} gap={4}>
          <Group gap="xs">
            <Text fw={600}>{name}</Text>
            <Badge color={colors[change]} variant="light" autoContrast>
              {t(`import_${change}`)}
            </Badge>
          </Group>
          {problem !== null && <Text size="sm">{server.sentence(problem)}</Text>}
          <FieldDiff
            changes={fields
              .flatMap(({ field, before, after }) =>
                changesBetween({ [field]: before ?? undefined }, { [field]: after }),
              )
              .filter((each) => isChanged(each) || each.field === 'keys')}
          />
        </Stack>
      ))}
    </Stack>
  )
}

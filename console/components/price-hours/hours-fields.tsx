// The hours of a price to be edited: factors with the days on which they do not apply, painted on a week of their zone.
import { ActionIcon, Button, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTimeZone, zoneNames } from '../../lib/format/time-zone.ts'
import { useMessages } from '../../lib/messages.ts'
import { Icon } from '../icon.tsx'
import { Swatch } from './hours-view.tsx'
import { hoursMessages } from './messages.ts'
import {
  type Band,
  type HoursWindow,
  maxWindows,
  newBand,
  painted,
  type Week,
  weeksOf,
  windowsOf,
} from './week.ts'
import { letterOf, WeekGrid } from './week-grid.tsx'

/** Off-peak rates are what they are mostly for. */
const firstFactor = '0.5'

export default function HoursFields({
  hours,
  onChange,
}: {
  hours: readonly HoursWindow[]
  /** Undefined: none. */
  onChange: (hours: readonly HoursWindow[] | undefined) => void
}) {
  const t = useMessages(hoursMessages)
  const [zone] = useTimeZone()
  const [weeks, setWeeks] = useWeeks(hours)
  const change = (next: readonly Week[]) => {
    const used = next.filter(({ bands }) => bands.length > 0)
    const windows = windowsOf(used)
    setWeeks(used, windows)
    onChange(windows.length === 0 ? undefined : windows)
  }
  const count = windowsOf(weeks).length
  return (
    <Stack gap="xs">
      <div>
        <Text size="sm" fw={500}>
          {t('hours')}
        </Text>
        <Text size="xs" c="dimmed">
          {t(weeks.length === 0 ? 'hours_hint' : 'grid_hint')}
        </Text>
      </div>
      {weeks.map((week, i) => (
        <WeekFields
          // biome-ignore lint/suspicious/noArrayIndexKey: the zone is what is being changed
          key={i}
          week={week}
          onChange={(next) => change(weeks.map((each) => (each === week ? next : each)))}
        />
      ))}
      {weeks.length === 0 ? (
        <Button
          variant="default"
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => change([{ zone, bands: [newBand(firstFactor)] }])}
        >
          {t('add_hours')}
        </Button>
      ) : (
        <Text size="xs" c={count > maxWindows ? 'red' : 'dimmed'}>
          {t('windows', { n: count, max: maxWindows })}
        </Text>
      )}
    </Stack>
  )
}

/** Factors without hours are no windows yet: they are kept here until the price is another. */
function useWeeks(hours: readonly HoursWindow[]) {
  const written = JSON.stringify(hours)
  const [drawn, setDrawn] = useState({ written, weeks: weeksOf(hours) })
  const weeks = drawn.written === written ? drawn.weeks : weeksOf(hours)
  const set = (next: readonly Week[], windows: readonly HoursWindow[]) =>
    setDrawn({ written: JSON.stringify(windows), weeks: [...next] })
  return [weeks, set] as const
}

function WeekFields({ week, onChange }: { week: Week; onChange: (week: Week) => void }) {
  const t = useMessages(hoursMessages)
  const { zone, bands } = week
  const [chosen, setChosen] = useState(0)
  const brush = Math.min(chosen, bands.length - 1)
  const setBand = (at: number, band: Band) =>
    onChange({ zone, bands: bands.map((each, i) => (i === at ? band : each)) })
  return (
    <Stack gap="xs">
      <Select
        label={t('zone')}
        w={240}
        searchable
        allowDeselect={false}
        data={[...new Set([zone, ...zoneNames()])]}
        value={zone}
        onChange={(value) => onChange({ zone: value ?? zone, bands })}
      />
      {bands.map((band, i) => (
        <BandFields
          key={letterOf(i)}
          at={i}
          band={band}
          isChosen={i === brush}
          onChoose={() => setChosen(i)}
          onChange={(next) => setBand(i, next)}
          onRemove={() => onChange({ zone, bands: bands.filter((each) => each !== band) })}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => {
          onChange({ zone, bands: [...bands, newBand('')] })
          setChosen(bands.length)
        }}
      >
        {t('add_factor')}
      </Button>
      <WeekGrid
        zone={zone}
        bands={bands}
        brush={{
          band: brush,
          onPaint: (hours, isOn) =>
            onChange({ zone, bands: painted(bands, hours, isOn ? brush : undefined) }),
        }}
      />
    </Stack>
  )
}

function BandFields({
  at,
  band,
  isChosen,
  onChoose,
  onChange,
  onRemove,
}: {
  at: number
  band: Band
  isChosen: boolean
  onChoose: () => void
  onChange: (band: Band) => void
  onRemove: () => void
}) {
  const t = useMessages(hoursMessages)
  const name = letterOf(at)
  const [except, setExcept] = useState(band.except.join(', '))
  return (
    <Group align="flex-end" gap="sm">
      <Group gap={6} mb={8}>
        <Radio aria-label={t('paint_with', { name })} checked={isChosen} onChange={onChoose} />
        <Swatch band={at} />
      </Group>
      <TextInput
        label={t('factor', { name })}
        required
        withAsterisk={false}
        inputMode="decimal"
        w={110}
        value={band.factor}
        onFocus={onChoose}
        onChange={(event) => onChange({ ...band, factor: event.currentTarget.value.trim() })}
      />
      <TextInput
        label={t('except')}
        placeholder="2026-12-25, 2027-01-01"
        w={240}
        value={except}
        onChange={(event) => {
          const text = event.currentTarget.value
          setExcept(text)
          onChange({ ...band, except: text.split(/[\s,，、;]+/).filter((each) => each !== '') })
        }}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('remove_factor', { name })}
        onClick={onRemove}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
    </Group>
  )
}

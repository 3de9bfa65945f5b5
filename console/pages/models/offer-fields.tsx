// The interfaces that offer a model, and for images and videos the protocols that serve it.
import { Group, MultiSelect } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Model } from '../../lib/resources/price.ts'
import { hasProtocols, offersOf } from './catalog.ts'
import { messages } from './messages.ts'

interface Offer {
  kind: string
  interfaces: readonly string[]
  protocols: readonly string[]
}

export function OfferFields<T extends Offer>({
  entry,
  models,
  onChange,
}: {
  entry: T
  models: readonly Model[]
  onChange: (entry: T) => void
}) {
  const t = useMessages(messages)
  const known = offersOf(models, entry.kind)
  const choices = (names: readonly string[], chosen: readonly string[]) => [
    ...new Set([...names, ...chosen]),
  ]
  return (
    <Group grow align="flex-start">
      <MultiSelect
        label={t('interfaces')}
        required
        data={choices(known.interfaces, entry.interfaces)}
        value={[...entry.interfaces]}
        onChange={(interfaces) => onChange({ ...entry, interfaces })}
      />
      {hasProtocols(entry.kind) && (
        <MultiSelect
          label={t('protocols')}
          data={choices(known.protocols, entry.protocols)}
          value={[...entry.protocols]}
          onChange={(protocols) => onChange({ ...entry, protocols })}
        />
      )}
    </Group>
  )
}

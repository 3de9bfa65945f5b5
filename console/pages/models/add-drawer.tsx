// Adds a model, a virtual model or an alias, or edits one. The address has what is being added.

import { useState } from 'react'
import { DetailsDrawer } from '../../components/drawer.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model } from '../../lib/resources/price.ts'
import { AliasForm } from './alias-form.tsx'
import { isAlias, isVirtual } from './catalog.ts'
import { Discovery } from './discovery.tsx'
import { messages } from './messages.ts'
import { type Begun, ModelForm } from './model-form.tsx'
import { VirtualForm } from './virtual-form.tsx'

export const additions = ['hand', 'channel', 'virtual', 'alias'] as const
type Addition = (typeof additions)[number]

const titles = {
  hand: 'new_model',
  channel: 'from_channel',
  virtual: 'new_virtual',
  alias: 'new_alias',
} as const

interface Props {
  models: readonly Model[]
  channels: readonly Channel[]
  onClose: () => void
  /** `name`: the one to show; undefined: several. */
  onDone: (name?: string) => void
}

export function AddDrawer({ adding, ...props }: Props & { adding: Addition | undefined }) {
  const t = useMessages(messages)
  return (
    <DetailsDrawer
      title={adding === undefined ? '' : t(titles[adding])}
      isOpen={adding !== undefined}
      onClose={props.onClose}
    >
      {adding !== undefined && <Adding key={adding} adding={adding} {...props} />}
    </DetailsDrawer>
  )
}

function Adding({ adding, models, channels, onClose, onDone }: Props & { adding: Addition }) {
  const [begun, setBegun] = useState<Begun>()
  const form = { models, onCancel: onClose, onDone }
  if (adding === 'virtual') return <VirtualForm {...form} />
  if (adding === 'alias') return <AliasForm {...form} />
  if (adding === 'channel' && begun === undefined) {
    return <Discovery channels={channels} onChosen={setBegun} onAdded={() => onDone()} />
  }
  return <ModelForm {...form} channels={channels} {...(begun !== undefined && { begun })} />
}

/** The form that fits what the model is. */
export function EditForm({ model, models, channels, onClose, onDone }: Props & { model: Model }) {
  const form = { model, models, onCancel: onClose, onDone }
  if (isVirtual(model)) return <VirtualForm {...form} />
  if (isAlias(model)) return <AliasForm {...form} />
  return <ModelForm {...form} channels={channels} />
}

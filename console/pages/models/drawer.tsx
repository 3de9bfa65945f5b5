// One model: what it is, its limits, what serves it, what it costs, and what a caller can do with it.
import { Alert, Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { SourceBadge, Terms } from '../../components/billing/price-terms.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { None, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model, Price } from '../../lib/resources/price.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { EditForm } from './add-drawer.tsx'
import { isAlias, isPattern, isVirtual, membersOf } from './catalog.ts'
import { messages } from './messages.ts'
import { deleteModel, restoreModel } from './save-model.ts'

interface Props {
  model: Model
  models: readonly Model[]
  channels: readonly Channel[]
  price: Price | undefined
  onClose: () => void
  onChanged: () => void
}

export function ModelDrawer({
  model,
  ...props
}: Omit<Props, 'model'> & { model: Model | undefined }) {
  if (model === undefined) return null
  return <OpenModel key={model.name} model={model} {...props} />
}

function OpenModel({ model, models, channels, price, onClose, onChanged }: Props) {
  const t = useMessages(messages)
  const [isEditing, setEditing] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const mayEdit = hasRole(useSession(), ['operator']) && model.source !== 'file'
  return (
    <DetailsDrawer
      title={isEditing ? t('edit_model', { name: model.name }) : model.name}
      isOpen
      onClose={onClose}
      actions={
        !isEditing && (
          <Actions
            model={model}
            onEdit={mayEdit && (() => setEditing(true))}
            onDelete={mayEdit && model.source === 'api' && (() => setDeleting(true))}
          />
        )
      }
    >
      {isEditing ? (
        <EditForm
          model={model}
          models={models}
          channels={channels}
          onClose={() => setEditing(false)}
          onDone={() => {
            offerUndo(t('saved_as', { name: model.name }), () => restoreModel(model))
            setEditing(false)
            onChanged()
          }}
        />
      ) : (
        <Stack>
          <PriceMissing model={model} price={price} />
          <Facts model={model} channels={channels} price={price} />
        </Stack>
      )}
      <Confirm
        title={t('delete_model')}
        text={t('delete_text', { name: model.name })}
        action={t('delete_model')}
        keep={t('keep_model')}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await deleteModel(model)
          offerUndo(t('deleted_as', { name: model.name }), () => restoreModel(model))
          onChanged()
          onClose()
        }}
      />
    </DetailsDrawer>
  )
}

function Actions({
  model,
  onEdit,
  onDelete,
}: {
  model: Model
  onEdit: (() => void) | false
  onDelete: (() => void) | false
}) {
  const t = useMessages(messages)
  const session = useSession()
  const [use] = model.interfaces
  const path = `/playground?use=${use}&model=${encodeURIComponent(model.name)}`
  return (
    <>
      {onEdit !== false && <Button onClick={onEdit}>{t('edit')}</Button>}
      {model.callable && !isPattern(model) && hasRole(session, ['operator', 'member']) && (
        <Button variant="default" onClick={() => navigate(path)}>
          {t('try_it')}
        </Button>
      )}
      {!isAlias(model) && model.price !== 'served' && (
        <Button variant="default" onClick={() => navigate(priceOf(model))}>
          {t('price_history')}
        </Button>
      )}
      {onDelete !== false && (
        <Button color="red" variant="light" onClick={onDelete}>
          {t('delete_model')}
        </Button>
      )}
    </>
  )
}

/** The page where the price of a model is set. */
export const priceOf = ({ name }: Pick<Model, 'name'>): string =>
  `/prices?open=${encodeURIComponent(name)}&new=1`

/** Of an alias and of a virtual model without one, the members have the price. */
export const needsPrice = (model: Model, price: Price | undefined): boolean =>
  price === undefined && !isAlias(model) && model.price !== 'served' && model.price_id === null

function PriceMissing({ model, price }: { model: Model; price: Price | undefined }) {
  const t = useMessages(messages)
  const mayPrice = hasRole(useSession(), ['finance'])
  if (!needsPrice(model, price)) return null
  return (
    <Alert color="orange" title={t('missing')}>
      <Stack gap="xs" align="flex-start">
        {t('no_price_text')}
        {mayPrice ? (
          <Button size="xs" onClick={() => navigate(priceOf(model))}>
            {t('set_price')}
          </Button>
        ) : (
          t('price_by_finance')
        )}
      </Stack>
    </Alert>
  )
}

function Facts({
  model,
  channels,
  price,
}: {
  model: Model
  channels: readonly Channel[]
  price: Price | undefined
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const bound = (value: number | null) => (value === null ? t('defaults') : format.number(value))
  const isText = model.kind === 'text'
  return (
    <PropertyList
      rows={[
        [
          t('callable'),
          <State
            key="c"
            state={model.callable ? 'good' : 'idle'}
            label={t(model.callable ? 'yes' : 'no')}
          />,
        ],
        [t('because'), model.unavailable_reason && server.sentence(model.unavailable_reason)],
        [t('display_name'), model.display_name],
        [t('kind'), server.text('model', model.kind)],
        [t('interfaces'), model.interfaces.join(', ')],
        [t('protocols'), model.protocols?.join(', ')],
        [t('served_by'), <ServedBy key="s" model={model} channels={channels} />],
        [
          t('context_window'),
          isText || model.kind === 'embedding' ? bound(model.context_window) : '',
        ],
        [t('max_output_tokens'), isText ? bound(model.max_output_tokens) : ''],
        [t('max_tokens_per_image'), isText ? bound(model.max_tokens_per_image) : ''],
        [t('translate_short'), isText ? t(model.translate ? 'on' : 'off') : ''],
        [t('routing'), isVirtual(model) || isAlias(model) ? '' : t(`routing_${model.routing}`)],
        [t('priced_by'), isVirtual(model) && model.price ? t(model.price) : ''],
        [t('price'), price && <Terms price={price} />],
        [t('source'), <SourceBadge key="b" source={model.source} />],
        ['', model.source === 'file' ? t('from_file') : undefined],
      ]}
    />
  )
}

/** Members, the model behind an alias, or channels. */
function ServedBy({ model, channels }: { model: Model; channels: readonly Channel[] }) {
  const to = (name: string) => `/models?open=${encodeURIComponent(name)}`
  if (isAlias(model)) return <Link to={to(model.alias!)}>{model.alias}</Link>
  if (isVirtual(model)) {
    return (
      <Group gap="xs">
        {membersOf(model).map(({ model: name, weight }) => (
          <Link key={name} to={to(name)}>
            {weight === undefined ? name : `${name} (${weight})`}
          </Link>
        ))}
      </Group>
    )
  }
  const serving = channels.filter(({ models }) => serves(Object.keys(models), model.name))
  if (serving.length === 0) return <None />
  return (
    <Group gap="xs">
      {serving.map(({ id, name }) => (
        <Link key={id} to={`/channels?open=${encodeURIComponent(id)}`}>
          {name}
        </Link>
      ))}
    </Group>
  )
}

/** Names, and prefixes that end in a star. */
const serves = (names: readonly string[], model: string): boolean =>
  names.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))

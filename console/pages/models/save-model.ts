// Saving a model takes up to three calls: its entry, its price, and the channel that serves it. It becomes
// callable with the last one; after a failure the next try goes on where this one ended.
import { useRef } from 'react'
import { api } from '../../lib/api.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model, Terms } from '../../lib/resources/price.ts'
import { declarationOf } from './catalog.ts'

const pathOf = (name: string): string => `/models/${encodeURIComponent(name)}`

export const deleteModel = ({ name }: Pick<Model, 'name'>) => api('DELETE', pathOf(name))

/** As it was: below what this API has added is what the gateway knows by itself. */
export const restoreModel = (model: Model) =>
  model.source === 'api'
    ? api('PUT', pathOf(model.name), { body: declarationOf(model) })
    : deleteModel(model)

interface ModelDraft {
  name: string
  /** As PUT /models takes it. */
  entry: object
  price?: Terms | undefined
  serving?: { channel: Channel; upstreamName: string } | undefined
}

export function useSaveModel(): (draft: ModelDraft) => Promise<void> {
  // A price is a new version each time: it is not sent twice.
  const priced = useRef<string>(undefined)
  return async ({ name, entry, price, serving }) => {
    await api('PUT', pathOf(name), { body: entry })
    const sent = JSON.stringify([name, price])
    if (price !== undefined && priced.current !== sent) {
      await api('POST', '/prices', { body: { model: name, ...price } })
      priced.current = sent
    }
    if (serving === undefined) return
    const { channel, upstreamName } = serving
    const models = { ...channel.models, [name]: upstreamName === name ? '*' : upstreamName }
    await api('PATCH', `/channels/${channel.id}`, { body: { models } })
  }
}

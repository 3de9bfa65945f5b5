// The models to choose from, and the price of one.
import { useEffect } from 'react'
import type { Model } from '../../../../src/admin/catalog/model-schema.ts'
import type { Page } from '../../../lib/api.ts'
import type { Task } from '../../../lib/resources/task.ts'
import { useQueryValue } from '../../../lib/router.tsx'
import { useStoredText } from '../../../lib/storage.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { type Endpoint, endpoints, firstModel, withValue } from './endpoints.ts'
import { estimateFor, type Priced } from './estimate.ts'

/** Models of an interface may make different things; a tab shows one of them. */
const kindsOf: Readonly<Record<Endpoint['answer'], readonly Model['kind'][]>> = {
  text: ['text'],
  vectors: ['embedding'],
  images: ['image'],
  task: ['image', 'video'],
  sound: ['speech'],
  transcript: ['transcription'],
  ranking: ['rerank'],
  moderation: ['moderation'],
}

/** Names of the models that the interface can call, and the one to begin with: asked last in this browser, or the cheapest. */
export function useModels(endpoint: Endpoint, account: string | null) {
  const { use, answer } = endpoint
  const { data, isLoading } = useResource<Page<Model>>('/models', { query: { limit: 500 } })
  const names = (data?.items ?? [])
    .filter(
      ({ interfaces, callable, kind }) =>
        callable && interfaces.includes(use) && kindsOf[answer].includes(kind),
    )
    .map(({ name }) => name)
  const [last, remember] = useStoredText(`gateway-playground-model ${answer}`)
  const cheapest = useCheapest(endpoint, names, account)
  const first = last !== undefined && names.includes(last) ? last : cheapest
  return { names, isLoading, first, remember }
}

/** Of models of text, by what the account pays; undefined until that is known. */
function useCheapest(
  endpoint: Endpoint,
  names: readonly string[],
  account: string | null,
): string | undefined {
  const isText = endpoint.answer === 'text'
  const { data, error } = useResource<Page<Priced & { model: string }>>(
    `/accounts/${encodeURIComponent(account!)}/prices`,
    { query: { limit: 500 }, enabled: isText && account !== null, retry: false },
  )
  if (!isText || error !== null) return firstModel(endpoint, names)
  if (data === undefined) return undefined
  const asked = JSON.stringify(endpoint.body)
  const costs = new Map(
    data.items.map((price) => [price.model, Number(estimateFor(price, asked) ?? Infinity)]),
  )
  const costOf = (name: string) => costs.get(name) ?? Infinity
  // Those without a price that can be estimated stay last, by name.
  const [cheapest] = names.toSorted((a, b) => costOf(a) - costOf(b) || 0)
  return cheapest
}

/** What the account that pays is charged for a model now. */
export function usePrice(account: string | null, model: string | null): Priced | undefined {
  const { data } = useResource<Page<Priced>>(`/accounts/${encodeURIComponent(account!)}/prices`, {
    query: { model: model! },
    enabled: account !== null && model !== null,
    retry: false,
  })
  return data?.items[0]
}

/** `?task=ID` begins with what that task was asked for. */
export function useTaskPrompt(
  endpoint: Endpoint,
  setText: (text: string) => void,
  setModel: (model: string) => void,
): void {
  const [id] = useQueryValue('task')
  const [, setTitle] = useQueryValue('try')
  const { data: task } = useResource<Task>(`/tasks/${encodeURIComponent(id!)}`, {
    enabled: id !== undefined,
  })
  useEffect(() => {
    if (task === undefined) return
    const fitting = endpoints.find(({ use }) => use === task.interface)
    if (fitting !== undefined && fitting.use !== endpoint.use)
      return setTitle(fitting.title, 'replace')
    let body: unknown = endpoint.body
    for (const { at, label } of endpoint.fields) {
      const { prompt, seconds, resolution, count, seed } = task.request
      const known = { prompt, seconds, resolution, count, seed: seed ?? undefined }
      const value = known[label as keyof typeof known]
      if (value !== undefined) body = withValue(body, at, value)
    }
    setText(JSON.stringify(body, null, 2))
    setModel(task.model)
  }, [task, endpoint, setText, setModel, setTitle])
}

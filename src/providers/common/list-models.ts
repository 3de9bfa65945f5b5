// The model list of text upstreams: `data`, or a bare list, each with its `id`, or `models`, each with its `name`.
// Takes only the names; the list does not say by which protocol they can be called.

import type { ListUpstream, ModelsReply, Stop } from '../../contract/provider.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'
import { bearer } from './bearer.ts'
import { failure, notAnswered, upstreamRequestId } from './errors.ts'
import { isRefused, refusedAnswer } from './refused-answer.ts'

const maxListBytes = 4 * 1024 * 1024
const maxDepth = 16
const maxNames = 2_000
const maxName = 256

export async function askForModels(
  path: string,
  headers: Readonly<Record<string, string>>,
  { baseUrl, http, timeouts, progress }: ListUpstream,
  stop: Stop,
): Promise<ModelsReply> {
  const plain = { accept: 'application/json', 'accept-encoding': 'identity' }
  const sent = http.get(
    baseUrl + path,
    { ...headers, ...plain, 'user-agent': 'model-gateway' },
    timeouts,
  )
  stop.replyBy(sent)
  try {
    const answer = await sent.answer
    progress.touch()
    if (isRefused(answer)) return await refusedAnswer(answer)
    const names = namesIn((await answer.text(maxListBytes, progress)) ?? '')
    if (names !== undefined) return { kind: 'listed', names }
    const message = 'the upstream answered with something that is not a list of models'
    const error = failure('upstream_invalid_response', message, upstreamRequestId(answer))
    return { kind: 'failed', error }
  } catch (error) {
    return { kind: 'failed', error: notAnswered(error) }
  }
}

/** Below the base URL of the other calls. */
export const listPlainModels = (upstream: ListUpstream, stop: Stop): Promise<ModelsReply> =>
  askForModels('/models', bearer(upstream), upstream, stop)

/** Sorted and unique; a name that cannot be requested is left out. */
function namesIn(text: string): string[] | undefined {
  const parsed = parseJson(text, maxDepth)
  if ('problem' in parsed) return undefined
  const list = listIn(parsed.value)
  if (list === undefined) return undefined
  const names = list
    .map((each: unknown) => (isObject(each) ? (each['id'] ?? plainName(each['name'])) : undefined))
    .filter((id): id is string => typeof id === 'string' && isName(id))
  return [...new Set(names)].sort().slice(0, maxNames)
}

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  const { data, models } = value
  const list = Array.isArray(data) ? data : models
  return Array.isArray(list) ? list : undefined
}

/** models/a -> a */
const plainName = (name: unknown): unknown =>
  typeof name === 'string' ? name.replace(/^models\//, '') : undefined

const isName = (id: string): boolean => id.length <= maxName && /^[^\s*?#\x00-\x1f]+$/.test(id)

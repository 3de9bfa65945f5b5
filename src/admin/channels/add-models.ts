// Models that an upstream has become entries of the catalog that its channel serves: which of them, under
// which names, and why others cannot.
import {
  type Channel,
  type Model,
  type ModelKind,
  modelKindRows,
  type Protocol,
} from '../../contract/catalog.ts'
import { modelFrom } from '../../contract/config-schema/index.ts'
import type { Offers } from '../../engine/base-deps.ts'
import { globOf } from '../../lib/text/glob.ts'
import { isPlainName, plainName, wholePlainName } from '../../lib/text/plain-name.ts'
import type { channelDiscovery } from '../catalog/channel-schema.ts'
import type { View } from '../route.ts'

type Listed = View<typeof channelDiscovery>['models'][number]

interface AddedModel {
  name: string
  upstream_model: string
  kind: ModelKind
  priced: boolean
}

interface SkippedModel {
  upstream_model: string
  reason: string
}

export interface AdditionPlan {
  added: AddedModel[]
  skipped: SkippedModel[]
  /** New in the catalog. */
  models: Model[]
  /** New in the channel's own list. */
  served: Record<string, string>
}

interface Kind {
  words: RegExp
  kind: ModelKind | undefined
}

/** Lists do not say what models make; their names do, the first row that fits. */
const kinds: readonly Kind[] = [
  { words: /rerank/i, kind: 'rerank' },
  { words: /moderation/i, kind: 'moderation' },
  { words: /realtime|live|guard|ocr/i, kind: undefined },
  { words: /whisper|transcri|asr/i, kind: 'transcription' },
  { words: /tts|text-to-speech/i, kind: 'speech' },
  { words: /speech|audio/i, kind: undefined },
  { words: /embed|\bbge|\bgte-|\be5-/i, kind: 'embedding' },
  { words: /video|sora|\bveo|seedance|hailuo|\bwan/i, kind: 'video' },
  { words: /image|dall-e|flux|imagen|cogview|diffusion|sdxl|seedream|kolors/i, kind: 'image' },
]

const kindOf = (upstreamModel: string): ModelKind | undefined => {
  const row = kinds.find(({ words }) => words.test(upstreamModel))
  return row === undefined ? 'text' : row.kind
}

export function planAdditions(
  { catalog, prices }: Offers,
  channel: Channel,
  listed: readonly Listed[],
  only: string | undefined,
): AdditionPlan {
  const plan: AdditionPlan = { added: [], skipped: [], models: [], served: {} }
  const isWanted = globOf(only ?? '*')
  const taken = new Set(Object.keys(channel.models))
  for (const { upstream_model, names } of listed) {
    const skip = (reason: string) => plan.skipped.push({ upstream_model, reason })
    if (!isWanted(upstream_model) && !isWanted(plainName(upstream_model))) continue
    const served = names.find(isPlainName)
    const name = served ?? freeName(upstream_model, taken)
    const known = catalog.models.get(name)
    if (served !== undefined && known !== undefined) continue
    const problem = problemOf(channel, upstream_model, { name, served, known })
    if (problem !== undefined) {
      skip(problem)
      continue
    }
    taken.add(name)
    const kind = known?.kind ?? kindOf(upstream_model)!
    plan.added.push({ name, upstream_model, kind, priced: prices.current(name) !== undefined })
    if (known === undefined) {
      const interfaces = [...modelKindRows[kind].interfaces]
      plan.models.push(modelFrom({ name, kind, interfaces }, 'api'))
    }
    if (served === undefined) plan.served[name] = name === upstream_model ? '*' : upstream_model
  }
  return plan
}

interface Named {
  name: string
  served: string | undefined
  known: Model | undefined
}

function problemOf(
  { protocols, source, name: channel }: Channel,
  upstreamModel: string,
  { name, served, known }: Named,
): string | undefined {
  if (name === '') return 'no name can be made of it'
  if (served === undefined && source !== 'api') {
    return `channel '${channel}' is declared in the configuration file: add it to its models there`
  }
  const kind = known?.kind ?? kindOf(upstreamModel)
  const spoken: readonly Protocol[] =
    known?.protocols ?? (kind === undefined ? [] : modelKindRows[kind].protocols)
  if (spoken.length === 0 && known === undefined) {
    return 'by its name it is of a kind that no interface serves; declare it if it is not'
  }
  if (spoken.some((protocol) => protocols[protocol] !== undefined)) return undefined
  return `the channel has no address for ${spoken.join(' or ')}`
}

/** The short name, or the one with the path if another model of this channel has that. */
function freeName(upstreamModel: string, taken: ReadonlySet<string>): string {
  const short = plainName(upstreamModel)
  return taken.has(short) ? wholePlainName(upstreamModel) : short
}

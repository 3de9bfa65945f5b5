// What another gateway has, in the words of this one: what is to be made, what becomes of it in another
// form, and what does not come along. Knows no product and asks no gateway.
import type { z } from 'zod'
import type { channelCreation } from '../../admin/catalog/channel-body-schema.ts'
import type { tokenCreation } from '../../admin/people/token-body-schema.ts'
import { type ModelKind, modelKindRows, type Protocol } from '../../contract/catalog.ts'
import type {
  AccountDeclaration,
  PriceDeclaration,
  plainModelDeclaration,
} from '../../contract/config-schema/index.ts'
import { presets } from '../../contract/config-schema/names.ts'

export type Kind = 'model' | 'price' | 'channel' | 'account' | 'credit' | 'token' | 'setting'

export interface Remark {
  kind: Kind
  name: string
  reason: string
}

/** Booked once for each key, however often the import runs. */
export interface Credit {
  account: string
  amount: string
  note: string
  key: string
}

export type ModelDraft = z.input<typeof plainModelDeclaration>
export type ChannelDraft = z.input<typeof channelCreation> & { name: string }
export type TokenDraft = z.input<typeof tokenCreation>

export class Plan {
  /** Name of the product that it comes from. */
  readonly source: string
  readonly models = new Map<string, ModelDraft>()
  readonly aliases = new Map<string, string>()
  readonly prices: PriceDeclaration[] = []
  readonly channels: ChannelDraft[] = []
  readonly accounts: AccountDeclaration[] = []
  readonly credits: Credit[] = []
  readonly tokens: TokenDraft[] = []
  readonly differently: Remark[] = []
  readonly left: Remark[] = []

  constructor(source: string) {
    this.source = source
  }

  /** It comes along, but not as it was. */
  change(kind: Kind, name: string, reason: string): void {
    this.differently.push({ kind, name, reason })
  }

  /** It does not come along. */
  leave(kind: Kind, name: string, reason: string): void {
    this.left.push({ kind, name, reason })
  }
}

/** Videos do not come along. */
export type CarriedKind = Exclude<ModelKind, 'video'>

/** What a server that follows the chat style has for each kind, at one address. */
export const usualProtocol = (kind: CarriedKind): Protocol => modelKindRows[kind].protocols[0]

const otherText = ['responses', 'messages', 'bedrock']

/** Whether a channel could serve models of this kind. */
export function canServe({ preset, protocols }: Partial<ChannelDraft>, kind: CarriedKind): boolean {
  const spoken = Object.keys(protocols ?? presets.get(preset ?? '')?.protocols ?? {})
  const able: readonly string[] = modelKindRows[kind].protocols
  return spoken.some((each) => able.includes(each) || (kind === 'text' && otherText.includes(each)))
}

export const modelDraft = (name: string, kind: CarriedKind): ModelDraft => ({
  name,
  kind,
  interfaces: [...modelKindRows[kind].interfaces] as ModelDraft['interfaces'],
})

const maxName = 64

/** 'Ann Lee' -> 'Ann-Lee'; '' when nothing is left. */
const plainText = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, maxName)

interface Wanted {
  /** Where it comes from; each once. */
  id: string
  name: string
  /** In place of a name that has no letters which names can have. */
  otherwise: string
}

/** A name for each id, the same in every run: those that two would have get a mark of their id. */
export function distinctNames(wanted: readonly Wanted[]): Map<string, string> {
  const plain = wanted.map(({ id, name, otherwise }) => {
    const text = plainText(name)
    return { id, text: text === '' ? plainText(otherwise) : text }
  })
  const counts = new Map<string, number>()
  for (const { text } of plain) {
    const key = text.toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return new Map(
    plain.map(({ id, text }) => {
      if (counts.get(text.toLowerCase()) === 1) return [id, text]
      const mark = `-${sha256(id).slice(0, 6)}`
      return [id, text.slice(0, maxName - mark.length) + mark]
    }),
  )
}

export const sha256 = (text: string): string => Bun.SHA256.hash(text, 'hex')

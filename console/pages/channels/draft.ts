// What a person has typed about a channel.
import { pairsOf } from '../../lib/resources/channel.ts'
import { type CloudDraft, cloudBody, isCloudComplete } from './cloud-draft.ts'
import { addressesOf, type Kind } from './upstream-kinds.ts'

export interface Draft {
  name: string
  base: string
  keys: string
  cloud: CloudDraft
  /** Of a cloud, which has no list of them: lines. */
  models: string
}

/** Keys, one per line. */
export const keysIn = (text: string): string[] =>
  text
    .split('\n')
    .map((key) => key.trim())
    .filter((key) => key !== '')

/** An account at a cloud stands in place of keys. */
export const hasKeys = ({ cloud }: Draft, kind: Kind | undefined): boolean =>
  kind?.preset?.cloud == null || cloud.mode === 'keys'

/** The hosts of some clouds follow from a region. */
export function needsBase(draft: Draft, kind: Kind | undefined): boolean {
  const { needs_base_url = true, cloud } = kind?.preset ?? {}
  return needs_base_url && (cloud == null || cloud === 'azure' || hasKeys(draft, kind))
}

/** A preset knows what may be left out. */
export function isComplete(draft: Draft, kind: Kind | undefined): boolean {
  const { name, base, keys, cloud, models } = draft
  const { needs_key = true, cloud: account } = kind?.preset ?? {}
  const needed = [
    name,
    ...(needsBase(draft, kind) ? [base] : []),
    ...(needs_key && hasKeys(draft, kind) ? [keys] : []),
  ]
  const isWhole = account == null || (isCloudComplete(account, cloud) && isModels(models))
  return isWhole && needed.every((text) => text.trim() !== '')
}

const isModels = (text: string): boolean => {
  const pairs = pairsOf(text)
  return typeof pairs !== 'number' && Object.keys(pairs).length > 0
}

/** Models that were typed: name, and name upstream. */
export function modelsIn({ models }: Draft): Record<string, string> {
  const pairs = pairsOf(models)
  return typeof pairs === 'number' ? {} : pairs
}

/** As the admin API takes it, with some of its models. */
export function bodyOf(kind: Kind, draft: Draft, models: readonly string[]): object {
  const keys = keysIn(draft.keys)
  const { name } = draft
  if (kind.preset === undefined) {
    const served = Object.fromEntries(models.map((each) => [each, '*']))
    return { name, protocols: addressesOf(kind, draft.base), keys, models: served }
  }
  const { name: preset, cloud } = kind.preset
  const base_url = draft.base.trim()
  const typed = Object.entries(modelsIn(draft)).filter(([each]) => models.includes(each))
  return {
    ...{ name, preset },
    ...(keys.length > 0 && hasKeys(draft, kind) && { keys }),
    ...(base_url !== '' && { base_url }),
    ...(cloud !== null && { ...cloudBody(cloud, draft.cloud), models: Object.fromEntries(typed) }),
  }
}

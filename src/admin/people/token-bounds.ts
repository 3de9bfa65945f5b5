// What members may change on a token: each token remembers what staff has set on it (models, limits,
// addresses, expiry, disabled), and a member's change must stay within that. What a member has set
// binds no one else.
import { BlockList } from 'node:net'
import { fulfils } from '../../contract/config-schema/channel/data.ts'
import { asCidr } from '../../contract/config-schema/index.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { matches } from '../../lib/text/pattern.ts'
import type { StoredToken, TokenBounds, TokenChange } from '../../store/catalog/tokens.ts'

type Settings = Pick<
  StoredToken,
  | 'models'
  | 'limits'
  | 'allowedIps'
  | 'translation'
  | 'fallback'
  | 'require'
  | 'expiresAtMs'
  | 'disabled'
>

/** All that a token says, as a bound: of one that staff has made. */
export const boundsOf = (token: Settings): TokenBounds => ({
  models: token.models,
  limits: token.limits,
  allowedIps: token.allowedIps,
  ...(token.translation !== undefined && { translation: token.translation }),
  ...(token.fallback !== undefined && { fallback: token.fallback }),
  ...(token.require !== undefined && { require: token.require }),
  ...(token.expiresAtMs !== undefined && { expiresAtMs: token.expiresAtMs }),
  disabled: token.disabled,
})

/** A token from before bounds were kept is bound by what it says. */
export const boundsBefore = (token: StoredToken): TokenBounds =>
  token.staffBounds ?? boundsOf(token)

/** What staff changes is the new bound, wider or narrower. */
export function withChange(bounds: TokenBounds, change: TokenChange): TokenBounds {
  const { models, limits, allowedIps, disabled, expiresAtMs, translation, fallback } = change
  const { expiresAtMs: before, translation: mode, fallback: refused, ...others } = bounds
  const { require: policy, ...rest } = others
  const required = change.require === undefined ? policy : (change.require ?? undefined)
  const ends = expiresAtMs === undefined ? before : (expiresAtMs ?? undefined)
  const translated = translation === undefined ? mode : (translation ?? undefined)
  const fixed = fallback === undefined ? refused : (fallback ?? undefined)
  return {
    ...rest,
    ...(models !== undefined && { models }),
    ...(limits !== undefined && { limits }),
    ...(allowedIps !== undefined && { allowedIps }),
    ...(disabled !== undefined && { disabled }),
    ...(translated !== undefined && { translation: translated }),
    ...(fixed !== undefined && { fallback: fixed }),
    ...(required !== undefined && { require: required }),
    ...(ends !== undefined && { expiresAtMs: ends }),
  }
}

/** A refusal when a member's change would be wider than what staff has set. */
export function widens(bounds: TokenBounds, change: TokenChange): Refusal | undefined {
  const { models, limits, allowedIps, disabled, expiresAtMs, translation } = change
  if (translation !== undefined && strictness(translation) < strictness(bounds.translation)) {
    return beyond('translation')
  }
  if (change.fallback === null && bounds.fallback === 'never') return beyond('fallback')
  if (change.require !== undefined && bounds.require !== undefined) {
    // What a member requires is at least what an operator has.
    if (!fulfils(change.require ?? undefined, bounds.require)) return beyond('require')
  }
  if (disabled === false && bounds.disabled === true) return beyond('disabled')
  if (models !== undefined && !coversModels(bounds.models, models)) return beyond('models')
  if (limits !== undefined) {
    const loose = Object.entries(bounds.limits ?? {}).find(
      ([name, max]) => (limits[name as keyof typeof limits] ?? Infinity) > max,
    )
    if (loose !== undefined) return beyond(`limits.${loose[0]}`)
  }
  if (allowedIps !== undefined && !coversAddresses(bounds.allowedIps, allowedIps)) {
    return beyond('allowed_ips')
  }
  if (expiresAtMs !== undefined && (expiresAtMs ?? Infinity) > (bounds.expiresAtMs ?? Infinity)) {
    return beyond('expires_at')
  }
  return undefined
}

const strictness = (mode: TokenChange['translation']): number =>
  ['on', 'strict', 'off'].indexOf(mode ?? 'on')

const beyond = (param: string): Refusal =>
  refuse('not_permitted', `${param} was set by an operator; a member can narrow it only`, {
    param,
  })

const coversModels = (bounds: readonly string[] = ['*'], models: readonly string[]): boolean =>
  models.every((model) => bounds.some((bound) => coversModel(bound, model)))

/** A prefix covers names and longer prefixes; a name covers itself. */
const coversModel = (bound: string, model: string): boolean =>
  bound === model || (bound.endsWith('*') && matches(bound, model.replace(/\*$/, '')))

/** No address at all means any. */
function coversAddresses(bounds: readonly string[] = [], addresses: readonly string[]): boolean {
  if (bounds.length === 0) return true
  if (addresses.length === 0) return false
  const outer = bounds.map(networkOf)
  return addresses.every((address) => {
    const inner = parts(address)
    return outer.some(
      (each) =>
        each.family === inner.family &&
        each.bits <= inner.bits &&
        each.list.check(inner.net, inner.family),
    )
  })
}

function networkOf(bound: string) {
  const { net, bits, family } = parts(bound)
  const list = new BlockList()
  list.addSubnet(net, bits, family)
  return { bits, family, list }
}

function parts(address: string): { net: string; bits: number; family: 'ipv4' | 'ipv6' } {
  const [net = '', bits = ''] = (asCidr(address) ?? '').split('/')
  return { net, bits: Number(bits), family: net.includes(':') ? 'ipv6' : 'ipv4' }
}

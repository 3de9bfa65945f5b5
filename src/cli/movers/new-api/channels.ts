// Channels of new-api, one for one. One that is off stays off.
import { requestRules } from '../../../contract/config-schema/channel/rules.ts'
import { presets } from '../../../contract/config-schema/names.ts'
import { isPlainName, wholePlainName } from '../../../lib/text/plain-name.ts'
import {
  type CarriedKind,
  type ChannelDraft,
  canServe,
  distinctNames,
  modelDraft,
  type Plan,
  usualProtocol,
} from '../plan.ts'
import { numberIn, objectOf, type Row, textIn } from '../rows.ts'
import { clouds, upstreams } from './upstreams.ts'

/** Names do not say what models make, but their words do, the first row that fits. */
const kinds: readonly [RegExp, CarriedKind | undefined][] = [
  [/realtime|suno|^mj_|guard/i, undefined],
  [/rerank/i, 'rerank'],
  [/moderation/i, 'moderation'],
  [/whisper|transcri|\basr\b|sensevoice/i, 'transcription'],
  [/\btts\b|speech|cosyvoice/i, 'speech'],
  [/audio/i, undefined],
  [/video|sora|\bveo|seedance|hailuo|kling|vidu/i, undefined],
  [/embed|\bbge|\bgte-|\be5-/i, 'embedding'],
  [/image|dall-e|flux|imagen|cogview|diffusion|sdxl|seedream|kolors/i, 'image'],
]

export const kindOf = (model: string): CarriedKind | undefined => {
  const row = kinds.find(([words]) => words.test(model))
  return row === undefined ? 'text' : row[1]
}

/** The names there of the models here. */
export function addChannels(plan: Plan, rows: readonly Row[]): Map<string, string> {
  const original = new Map<string, string>()
  const names = distinctNames(
    rows.map((row) => {
      const id = String(numberIn(row, 'id'))
      return { id, name: textIn(row, 'name'), otherwise: `channel-${id}` }
    }),
  )
  for (const row of rows) {
    const name = names.get(String(numberIn(row, 'id')))!
    const access = accessOf(row)
    if (access instanceof Error) {
      plan.leave('channel', name, access.message)
      continue
    }
    const models = modelsOf(plan, row, original, access)
    if (Object.keys(models).length === 0) {
      plan.leave('channel', name, 'none of its models can be carried')
      continue
    }
    plan.channels.push({ name, ...access, models, ...placeOf(row), ...rulesOf(plan, name, row) })
    nameUnread(plan, name, row)
  }
  return original
}

function placeOf(row: Row): Partial<ChannelDraft> {
  const [priority, weight] = [numberIn(row, 'priority') ?? 0, numberIn(row, 'weight') ?? 0]
  return {
    ...(priority !== 0 && { priority }),
    // Where none has a weight, all have the same share.
    ...(weight > 0 && { weight }),
    ...(numberIn(row, 'status') !== 1 && { disabled: true }),
  }
}

const namesOf = (row: Row): string[] =>
  textIn(row, 'models')
    .split(',')
    .map((each) => each.trim())

function modelsOf(
  plan: Plan,
  row: Row,
  original: Map<string, string>,
  access: Access,
): Record<string, string> {
  const mapping = objectOf(row['model_mapping'])
  const served: Record<string, string> = {}
  for (const name of namesOf(row)) {
    const kind = kindOf(name)
    const here = isPlainName(name) ? name : wholePlainName(name)
    if (name === '' || here === '' || served[here] !== undefined) continue
    if (kind === undefined) {
      plan.leave('model', name, 'by its name it is of a kind that is not carried')
      continue
    }
    if (!canServe(access, kind)) {
      plan.leave(
        'model',
        name,
        `by its name it is for ${kind}, which its channel does not serve here`,
      )
      continue
    }
    if (here !== name && !original.has(here)) {
      plan.change('model', here, `callers have asked for '${name}'; here it is '${here}'`)
    }
    original.set(here, name)
    const upstream = mappedName(name, mapping)
    served[here] = upstream === here ? '*' : upstream
    plan.models.set(here, plan.models.get(here) ?? modelDraft(here, kind))
  }
  return served
}

const maxMapped = 10

/** A name that a mapping leads to may be mapped again. */
function mappedName(name: string, mapping: Row): string {
  let known = name
  for (let steps = 0; steps < maxMapped; steps++) {
    const next = mapping[known]
    if (typeof next !== 'string' || next === '' || next === known) break
    known = next
  }
  return known
}

type Access = Omit<ChannelDraft, 'name'>

function accessOf(row: Row): Access | Error {
  const type = numberIn(row, 'type') ?? 0
  const keys = keysOf(row)
  const base = textIn(row, 'base_url').trim().replace(/\/+$/, '')
  if (type === clouds.aws) return awsAccess(keys)
  if (type === clouds.vertex) return vertexAccess(keys, textIn(row, 'other'))
  if (type === clouds.azure) {
    return base === ''
      ? new Error('it has no base_url')
      : { preset: 'azure-openai', base_url: URL.parse(base)?.origin ?? base, keys }
  }
  const upstream = upstreams[type]
  if (upstream === undefined) return new Error(`channels of the type ${type} have no preset here`)
  const { preset } = upstream
  const keyless = presets.get(preset ?? '')?.keyless === true
  if (keys.length === 0 && !keyless) return new Error('it has no key that is on')
  const access = keys.length === 0 ? {} : { keys }
  const address = base || upstream.base
  if (address === undefined) {
    return preset === undefined ? new Error('it has no base_url') : { preset, ...access }
  }
  const protocols = addresses(type, address, namesOf(row))
  return { ...(preset !== undefined && { preset }), ...access, protocols }
}

/** What it needs for its models; of a preset, only what that has. */
function addresses(type: number, base: string, models: readonly string[]): Record<string, string> {
  const { path, protocol, preset } = upstreams[type]!
  if (protocol !== undefined) return { [protocol]: base }
  // Of a custom channel the address is that of the call itself.
  const whole = (base + path).replace(/\/chat\/completions$/, '')
  // A server at an address of its own may have whatever the chat style's first one does not.
  const known = preset === 'openai' ? undefined : presets.get(preset ?? '')?.protocols
  const needed = models.flatMap((name) => usualProtocol(kindOf(name) ?? 'text'))
  return Object.fromEntries(
    [...new Set(['chat', ...needed])]
      .filter((each) => usual.has(each) || known === undefined || each in known)
      .map((each) => [each, whole]),
  )
}

const usual: ReadonlySet<string> = new Set(['chat', 'embeddings', 'images'])

/** Lines, or the items of a JSON array; of several, those that are on. */
function keysOf(row: Row): string[] {
  const text = textIn(row, 'key').trim()
  const info = objectOf(row['channel_info'])
  if (text === '') return []
  if (info['is_multi_key'] !== true)
    return [text.startsWith('{') ? text : text.split('\n')[0]!.trim()]
  const states = objectOf(info['multi_key_status_list'])
  const all = text.startsWith('[') ? jsonItems(text) : text.split('\n')
  return all
    .filter((_, at) => (states[String(at)] ?? 1) === 1)
    .map((key) => key.trim())
    .filter((key) => key !== '')
}

function jsonItems(text: string): string[] {
  try {
    const items: unknown = JSON.parse(text)
    if (!Array.isArray(items)) return []
    return items.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  } catch {
    return []
  }
}

function awsAccess([key = '']: readonly string[]): Access | Error {
  const parts = key.split('|')
  const [access_key, secret_key, region] = parts
  if (access_key && secret_key && region) {
    return { preset: 'bedrock', auth: { aws: { access_key, secret_key, region } } }
  }
  // A key of the cloud's own, and its region.
  if (parts.length === 2 && access_key && secret_key) {
    const address = presets.get('bedrock')!.addressIn!(secret_key)
    return { preset: 'bedrock', base_url: address, keys: [access_key] }
  }
  return new Error('its key is not of the form access|secret|region')
}

/** `other` is a location, or a JSON object of one for each model. */
function vertexAccess([key = '']: readonly string[], other: string): Access | Error {
  const said = objectOf(other)['default'] ?? other
  const location = typeof said === 'string' && /^[a-z0-9-]+$/.test(said) ? said : 'global'
  if (!key.startsWith('{')) return new Error('its key is no service account')
  return { preset: 'vertex', auth: { google: { service_account: key } }, vertex: { location } }
}

/** Overrides that set fields and headers are rules here. */
function rulesOf(plan: Plan, name: string, row: Row): Pick<ChannelDraft, 'request'> {
  const body = objectOf(row['param_override'])
  const organization = textIn(row, 'openai_organization')
  const headers = {
    ...objectOf(row['header_override']),
    ...(organization !== '' && { 'openai-organization': organization }),
  }
  const rules = {
    ...(Object.keys(headers).length > 0 && { headers: { set: headers } }),
    ...(Object.keys(body).length > 0 && { body: { set: body } }),
  }
  if (Object.keys(rules).length === 0) return {}
  const checked = 'operations' in body ? undefined : requestRules.safeParse(rules)
  if (checked?.success === true) return { request: checked.data }
  plan.leave('setting', name, 'param_override or header_override, which no rule here can say')
  return {}
}

function nameUnread(plan: Plan, name: string, row: Row): void {
  const groups = textIn(row, 'group')
    .split(',')
    .map((each) => each.trim())
  if (groups.some((group) => group !== '' && group !== 'default')) {
    plan.leave(
      'setting',
      name,
      `only for the groups ${groups.join(', ')}: here it serves all accounts`,
    )
  }
  const unread = ['status_code_mapping', 'setting', 'settings'].filter(
    (column) => Object.keys(objectOf(row[column])).length > 0,
  )
  if (unread.length > 0) plan.leave('setting', name, unread.join(', '))
}

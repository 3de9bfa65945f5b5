// What a text call may not ask for. Work that costs the operator beyond tokens (faster tiers, audio,
// background work) has no price, and objects of the operator's upstream account that this gateway never
// hands out belong to no caller. Tools that the upstream runs are noted: some models have prices for them.

import { type Refusal, unknownObject } from '../../contract/errors.ts'
import type { ServerTool } from '../../contract/requests.ts'
import { foldedKey } from '../../http/body/exact-keys.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'

/** Undefined: it may go upstream. Never asked about null. */
type Check = (value: unknown, name: string) => Refusal | undefined

export const unpriced = (name: string, what: string): Refusal =>
  wrong(name, `'${name}' cannot be used: ${what} costs extra and the model has no price for it`)

const never =
  (what: string): Check =>
  (_, name) =>
    unpriced(name, what)

const only =
  (what: string, ...allowed: readonly unknown[]): Check =>
  (value, name) =>
    allowed.includes(value) ? undefined : unpriced(name, what)

const emptyOnly =
  (what: string): Check =>
  (value, name) =>
    Array.isArray(value) && value.length === 0 ? undefined : unpriced(name, what)

const textOnly: Check = (value, name) =>
  Array.isArray(value) && value.every((each) => each === 'text')
    ? undefined
    : unpriced(name, 'output other than text')

const otherModels: Check = (_, name) =>
  wrong(name, `'${name}' cannot be used: only 'model' names a model`)

const atOnce: Check = (value, name) =>
  value === false ? undefined : wrong(name, `'${name}' is not possible through the gateway`)

/** Of a reseller's upstreams: they cost the operator differently. Others may be left out. */
const narrowing = new Set(['data_collection', 'zdr', 'require_parameters', 'max_price', 'ignore'])
const providerChoice: Check = (value, name) => {
  const chosen = isObject(value)
    ? Object.keys(value).find((each) => value[each] != null && !narrowing.has(each))
    : ''
  if (chosen === undefined) return undefined
  return unpriced(chosen === '' ? name : `${name}.${chosen}`, 'a choice of who serves it')
}

const foreign: Check = (_, name) => unknownObject(name)

const search = 'web search'
/** Fields that ask for it. */
const searches: ReadonlySet<string> = new Set([
  'web_search_options',
  'web_search',
  'search_parameters',
  'enable_search',
  'enable_web_search',
])

/** By the field at the top of the body, for all text styles. */
export const checks: Readonly<Record<string, Check>> = {
  service_tier: only('another service tier', 'auto', 'default', 'standard', 'standard_only'),
  background: atOnce,
  modalities: textOnly,
  audio: never('audio'),
  speed: only('another speed', 'standard'),
  inference_geo: only('a choice of where it runs', 'global'),
  web_search_options: never(search),
  web_search: only(search, false),
  search_parameters: never(search),
  enable_search: only(search, false),
  enable_web_search: only(search, false),
  enable_code_interpreter: only('running code', false),
  plugins: emptyOnly('a plugin'),
  mcp_servers: emptyOnly('a remote server'),
  models: otherModels,
  fallbacks: otherModels,
  fallback_credit_token: never('a credit of another call'),
  routing_config: otherModels,
  model_selection_config: otherModels,
  model_armor_config: foreign,
  provider: providerChoice,
  deferred: atOnce,
  compound_custom: never('a tool that the upstream runs'),
  conversation: foreign,
  container: (value, name) =>
    isObject(value) && value['id'] == null ? unpriced(name, 'a container') : unknownObject(name),
  cached_content: foreign,
  file_ids: (value) => (Array.isArray(value) && value.length === 0 ? undefined : noFile),
  thread: (_, name) =>
    wrong(name, `'${name}' cannot be used: no conversation is kept; send all of its messages`),
  diagnostics: (value) =>
    isObject(value) && value['previous_message_id'] != null
      ? unknownObject('diagnostics.previous_message_id')
      : undefined,
  prompt: (value) =>
    isObject(value) && value['id'] != null ? unknownObject('prompt.id') : undefined,
}

/** Rates of the output that these fields ask for; undefined: other output, or another field. */
export function outputRates(name: string, value: unknown): readonly string[] | undefined {
  if (name === 'audio') return isObject(value) ? ['output_audio'] : undefined
  return name === 'modalities' ? ratesOfOutput(value) : undefined
}

/** `['text', 'audio']` in any case -> `['output_audio']`; undefined: another kind is among them. */
export function ratesOfOutput(kinds: unknown): readonly string[] | undefined {
  if (!Array.isArray(kinds)) return undefined
  const rates = new Set<string>()
  for (const kind of kinds) {
    const word = typeof kind === 'string' ? kind.toLowerCase() : ''
    if (word === 'audio' || word === 'image') rates.add(`output_${word}`)
    else if (word !== 'text') return undefined
  }
  return [...rates]
}

/** Of a field: models may have a price for what it asks for. */
export const isSearch = (name: string): boolean => searches.has(name)

export const noFile = unknownObject('file_id')

/** Some upstreams read a whole file where a text begins like this. */
export const namesFile = (text: string): boolean => /^\s*fileid:/i.test(text)

/** What an upstream could fetch, or bytes of media. */
export const isAddress = (text: string): boolean =>
  /^\s*(?:[a-z][a-z\d+.-]*:\/\/|data:)/i.test(text)

/** An object of the upstream's own store: `ms://`, `oss://`, `gs://` and the like. */
export const isKeptUpstream = (url: string): boolean =>
  /^\s*[a-z][a-z\d+.-]*:\/\//i.test(url) && !/^\s*https?:/i.test(url)

/** Tools that the caller runs itself, by their type; a name ends in `_` where a date follows. */
export type ClientTools = readonly (string | undefined)[]

/** What is wrong with a list of tools; those that the upstream runs are added to `found`. */
export function toolProblem(
  tools: unknown,
  allowed: ClientTools,
  found: ServerTool[],
  at = 'tools',
): Refusal | undefined {
  if (!Array.isArray(tools))
    return isObject(tools) ? problemOf(tools, allowed, found, at) : undefined
  for (let i = 0; i < tools.length; i++) {
    const tool: unknown = tools[i]
    if (!isObject(tool)) continue
    const problem = problemOf(tool, allowed, found, `${at}[${i}]`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOf(
  tool: Fields,
  allowed: ClientTools,
  found: ServerTool[],
  at: string,
): Refusal | undefined {
  const type = tool['type'] ?? undefined
  const isClient = isAllowed(type, allowed)
  const { container, vector_store_ids: stores } = tool
  if (stores != null && !isClient) return unknownObject('vector_store_ids')
  if (typeof container === 'string') return unknownObject('container')
  const kept = foreignIn(tool)
  if (kept !== undefined) return kept
  if (isClient)
    return hiddenTool(tool, at) ?? toolProblem(tool['tools'], allowed, found, `${at}.tools`)
  const name = toolName(type)
  const refusal = runUpstream(
    `${at}.type`,
    typeof type === 'string' ? type.slice(0, 64) : 'this one',
  )
  if (name === undefined) return refusal
  const maxUses = usesIn(tool)
  found.push({ name, refusal, ...(maxUses !== undefined && { maxUses }) })
  return undefined
}

const runUpstream = (param: string, shown: string): Refusal =>
  wrong(
    param,
    `'${param}' cannot be used: a tool that the upstream runs, such as '${shown}', costs extra and the model has no price for it`,
  )

/** Tools of the upstream that some styles name by a field instead of a type. */
const toolFields = new Set([
  ...['googleSearch', 'google_search', 'googleSearchRetrieval', 'google_search_retrieval'],
  ...['enterpriseWebSearch', 'enterprise_web_search', 'googleMaps', 'google_maps', 'urlContext'],
  ...['url_context', 'codeExecution', 'code_execution', 'fileSearch', 'file_search', 'retrieval'],
  ...['web_search', 'web_search_preview', 'web_fetch', 'code_interpreter', 'image_generation'],
  ...['mcp', 'mcpServers', 'mcp_servers', 'server_url', 'connector_id', 'knowledge_base'],
])

/** In a tool of the caller's own. */
function hiddenTool(tool: Fields, at: string): Refusal | undefined {
  for (const name in tool) {
    if (toolFields.has(name) && tool[name] != null) return runUpstream(`${at}.${name}`, name)
  }
  return undefined
}

/** 'web_search_20250305', 'web_search_preview_2025_03_11' -> 'web_search' */
const toolName = (type: unknown): string | undefined =>
  typeof type === 'string' && type.length <= 64
    ? /^[a-z][a-z_]*?(?=(?:_preview)?(?:_\d[\d_]*)?$)/.exec(type)?.[0]
    : undefined

/** Of messages; a bound that is no whole number is the upstream's to refuse. */
function usesIn({ max_uses: uses }: Fields): number | undefined {
  return typeof uses === 'number' && Number.isSafeInteger(uses) && uses > 0 ? uses : undefined
}

const isAllowed = (type: unknown, allowed: ClientTools): boolean =>
  allowed.some((each) =>
    each?.endsWith('_') ? typeof type === 'string' && type.startsWith(each) : type === each,
  )

/** Ids of what an upstream keeps, all of which are refused as a file. */
const fileFields = ['file_id', 'file_ids', 'vector_store_id', 'vector_store_ids', 'container_id']
/** And those that are refused by their own names. */
const keptFields = [
  ...['cached_content', 'previous_response_id', 'previous_interaction_id', 'knowledge_id'],
  ...['knowledge_base_id', 'assistant_id', 'agent_id', 'thread_id'],
]

/** Without case and the lines between words. */
export const squashed = (name: string): string => foldedKey(name).replaceAll(/[_-]/g, '')

const refusals: ReadonlyMap<string, Refusal> = new Map([
  ...fileFields.map((name) => [squashed(name), noFile] as const),
  ...keptFields.map((name) => [squashed(name), unknownObject(name)] as const),
])

/** Names that came in, with the refusal of an id under each. */
const judged = new Map<string, Refusal | undefined>()
const maxJudged = 1_000
const maxName = 64

/** An id of something that the upstream keeps, by the name of its field in any spelling. */
function refusalOf(name: string): Refusal | undefined {
  if (name.length > maxName) return undefined
  const before = judged.get(name)
  if (before !== undefined || judged.has(name)) return before
  if (judged.size >= maxJudged) judged.clear()
  const refusal = refusals.get(squashed(name))
  judged.set(name, refusal)
  return refusal
}

/** What a field names by its own name, if that is kept upstream. */
export function foreignField(name: string, held: unknown): Refusal | undefined {
  if (held == null || held === '' || (Array.isArray(held) && held.length === 0)) return undefined
  if (name === 'container') {
    const isNamed = typeof held === 'string' || (isObject(held) && held['id'] != null)
    return isNamed ? unknownObject(name) : undefined
  }
  if (name === 'audio') {
    return isObject(held) && held['id'] != null ? unknownObject('audio.id') : undefined
  }
  if (typeof held === 'string' && addressFields.has(name) && isKeptUpstream(held)) return noFile
  return refusalOf(name)
}

const addressFields = new Set(['url', 'uri', 'file_uri', 'fileUri', 'file_url', 'fileUrl'])

/** What a tool is given and says, in words of the caller's own, and its schemas. */
const ownFields = new Set([
  ...['input', 'arguments', 'args', 'parameters', 'input_schema', 'schema', 'properties'],
  ...['parametersJsonSchema', 'parameters_json_schema', 'response', 'metadata'],
])

/** Something kept upstream that is named anywhere in it. Bodies are shallow enough for a recursion. */
export function foreignIn(value: unknown): Refusal | undefined {
  if (typeof value === 'string') return namesFile(value) ? noFile : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = foreignIn(each)
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const name in value) {
    if (ownFields.has(name)) continue
    const held = (value as Fields)[name]
    const found = foreignField(name, held) ?? foreignIn(held)
    if (found !== undefined) return found
  }
  return undefined
}

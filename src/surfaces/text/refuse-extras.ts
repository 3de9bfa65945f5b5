// What a text call may not ask for. Work that costs the operator beyond tokens (faster tiers, audio,
// background work) has no price, and objects of the operator's upstream account that this gateway never
// hands out belong to no caller. Tools that the upstream runs are noted: some models have prices for them.

import { type Refusal, unknownObject } from '../../contract/errors.ts'
import type { ServerTool } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'

/** Undefined: it may go upstream. Never asked about null. */
type Check = (value: unknown, name: string) => Refusal | undefined

const unpriced = (name: string, what: string): Refusal =>
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
const checks: Readonly<Record<string, Check>> = {
  __proto__: null as never,
  service_tier: only('another service tier', 'auto', 'default', 'standard_only'),
  background: (value, name) =>
    value === false ? undefined : wrong(name, `'${name}' is not possible through the gateway`),
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

/** Their names, which may come in no other spelling either. */
export const checkedFields: readonly string[] = Object.keys(checks)

export const noFile = unknownObject('file_id')

/** For styles that hand out no responses to go on from. */
export const noResponse = ({ previous_response_id: id }: Fields): Refusal | undefined =>
  id == null ? undefined : unknownObject('previous_response_id')

/** `tools`: takes note of searches, for calls of models that may have a price for them. */
export function extraProblem(fields: Fields, tools?: ServerTool[]): Refusal | undefined {
  for (const name in fields) {
    const check = checks[name]
    if (check === undefined) continue
    const value = fields[name]
    const problem = value == null ? undefined : check(value, name)
    if (problem === undefined) continue
    if (tools === undefined || !searches.has(name)) return problem
    tools.push({ name: 'web_search', refusal: problem })
  }
  return undefined
}

/** Tools that the caller runs itself, by their type; a name ends in `_` where a date follows. */
export type ClientTools = readonly (string | undefined)[]

/** What is wrong with a list of tools; those that the upstream runs are added to `found`. */
export function toolProblem(
  tools: unknown,
  allowed: ClientTools,
  found: ServerTool[],
  at = 'tools',
): Refusal | undefined {
  if (!Array.isArray(tools)) return undefined
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
  if (!isAllowed(type, allowed)) {
    const { container, vector_store_ids: stores } = tool
    if (stores != null) return unknownObject('vector_store_ids')
    if (typeof container === 'string') return unknownObject('container')
    if (hasFile(tool)) return noFile
    const param = `${at}.type`
    const shown = typeof type === 'string' ? type.slice(0, 64) : 'this one'
    const refusal = wrong(
      param,
      `'${param}' cannot be used: a tool that the upstream runs, such as '${shown}', costs extra and the model has no price for it`,
    )
    const name = toolName(type)
    if (name === undefined) return refusal
    const maxUses = usesIn(tool)
    found.push({ name, refusal, ...(maxUses !== undefined && { maxUses }) })
    return undefined
  }
  return toolProblem(tool['tools'], allowed, found, `${at}.tools`)
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

const fileNames = ['file_id', 'file_ids', 'vector_store_ids', 'container_id'] as const
/** Bodies are shallower than this. */
const maxDepth = 100

/** Whether a file kept upstream is named anywhere in it. */
export function hasFile(value: unknown, depth = 0): boolean {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each) => hasFile(each, depth + 1))
  const holder = value as Fields
  for (const name of fileNames) {
    const named = holder[name]
    if (named != null && !(Array.isArray(named) && named.length === 0)) return true
  }
  for (const name in holder) if (hasFile(holder[name], depth + 1)) return true
  return false
}

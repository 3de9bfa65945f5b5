// The fields of a call beside its conversation, by name: those by which an upstream makes more output
// than the bound of the style allows, reasons, keeps a cache for an hour or compacts the input, and
// those that may not be asked for at all. An object that the style does not define is searched for the
// same names, however deep it lies: upstreams merge such objects into the request, or read them.
import { type Refusal, unknownObject } from '../../contract/errors.ts'
import type { AskedTerm, ServerTool, TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import {
  checks,
  isAddress,
  isSearch,
  namesFile,
  noFile,
  outputRates,
  squashed,
} from './refuse-extras.ts'

/** What was found. */
interface Extras {
  readonly problem: Refusal | undefined
  /** The largest output bound of another name than the style's own; infinite: no bound at all. */
  readonly bound: number
  readonly reasons: boolean
  readonly hourCache: boolean
  readonly compacts: boolean
  /** Terms of a price that it asks for; undefined: none. */
  readonly asks: readonly AskedTerm[] | undefined
  /** It names media by address, which may be of any size. */
  readonly isOpen: boolean
}

/** Undefined: nothing is wrong with it. Never asked about null. */
type Rule = (value: unknown, name: string, found: Found) => Refusal | undefined

class Found implements Extras {
  problem: Refusal | undefined
  bound = 0
  reasons = false
  hourCache = false
  compacts = false
  asks: AskedTerm[] | undefined
  isOpen = false
  /** Takes note of searches; absent: they are refused. */
  readonly tools: ServerTool[] | undefined

  constructor(tools: ServerTool[] | undefined) {
    this.tools = tools
  }

  ask(term: AskedTerm): void {
    this.asks ??= []
    this.asks.push(term)
  }

  /** A value that no style defines. `own`: fields in it that are read elsewhere. */
  search(value: unknown, at: string, own?: ReadonlySet<string>): Refusal | undefined {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value)) {
      for (const each of value) {
        const problem = this.search(each, at)
        if (problem !== undefined) return problem
      }
      return undefined
    }
    for (const name in value) {
      const held = (value as Fields)[name]
      if (held == null || own?.has(name)) continue
      const problem = this.#field(name, held, `${at}.${name}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  #text(text: string): Refusal | undefined {
    if (isAddress(text)) this.isOpen = true
    return namesFile(text) ? noFile : undefined
  }

  #field(name: string, held: unknown, at: string): Refusal | undefined {
    const known = name.length > maxName ? undefined : innerRule(name)
    if (known === undefined) return this.search(held, at.slice(0, maxPath))
    return 'spelled' in known
      ? wrong(at, `the key '${name}' must be spelled '${known.spelled}'`)
      : known.rule(held, at, this)
  }
}

const maxName = 64
/** Of a path in a refusal; deeper names are left out. */
const maxPath = 200

/** Read by the style itself, the caller's own, or a schema. */
const passed: Rule = () => undefined

const raises: Rule = (value, name, found) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    return wrong(name, `'${name}' must be a whole number`)
  }
  found.bound = Math.max(found.bound, value < 0 ? Number.POSITIVE_INFINITY : value)
  return undefined
}

const oneOnly: Rule = (value, name) =>
  value === 1 ? undefined : wrong(name, `'${name}' cannot be used here: it multiplies the answer`)

/** Upstreams merge such an object into the request. */
const merged = /(?:^|\.)extra[^.]*\.[^.]*$/i

const notMerged: Rule = (value, name, found) =>
  merged.test(name)
    ? wrong(name, `'${name}' cannot be used: send it as a field of the request itself`)
    : found.search(value, name)

const foreign: Rule = (value, name) =>
  Array.isArray(value) && value.length === 0 ? undefined : unknownObject(name)

const reasoning: Rule = (value, _, found) => {
  if (asks(value)) found.reasons = true
  return undefined
}

/** Words for no reasoning, in any case. */
const noReasoning = new Set(['', 'none', 'off', 'no', 'false', 'disabled', 'disable'])
/** Of a reasoning object: about what is shown of it. */
const shownOnly = new Set([
  ...['exclude', 'summary', 'generate_summary', 'display', 'format', 'context'],
])

/** A flag, a word, a number of tokens, or an object of these. */
function asks(value: unknown): boolean {
  if (typeof value === 'string') return !noReasoning.has(value.trim().toLowerCase())
  if (typeof value !== 'object') return value !== false && value !== 0
  if (value === null) return false
  if (Array.isArray(value)) return value.some(asks)
  for (const name in value) {
    if (!shownOnly.has(name) && asks((value as Fields)[name])) return true
  }
  return false
}

const caches: Rule = (value, _, found) => {
  if (isHourCache(value)) found.hourCache = true
  return undefined
}

/** `cache_control: {type: 'ephemeral', ttl: '1h'}`; a lifetime that is not known is no shorter. */
export const isHourCache = (value: unknown): boolean =>
  isObject(value) && value['ttl'] != null && value['ttl'] !== '5m'

/** On one of these tools. */
export const hasHourCache = (tools: unknown): boolean =>
  Array.isArray(tools)
    ? tools.some(hasHourCache)
    : isObject(tools) &&
      (isHourCache(tools['cache_control']) ||
        hasHourCache(tools['function']) ||
        hasHourCache(tools['tools']))

/** Edits that only leave out parts of the input cost nothing; any other makes another pass over it. */
const edits: Rule = (value, _, found) => {
  if (compactsIn(value)) found.compacts = true
  return undefined
}

function compactsIn(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(compactsIn)
  if (!isObject(value)) return false
  const { type, edits: list } = value
  if (list != null) return compactsIn(list)
  return type != null && !(typeof type === 'string' && type.startsWith('clear_'))
}

const camelOf = (snake: string): string =>
  snake.replaceAll(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The rule under both spellings of each name. */
const named = (rule: Rule, ...names: readonly string[]): [string, Rule][] =>
  names.flatMap((name) => [...new Set([name, camelOf(name)])].map((each) => [each, rule]))

const checked: [string, Rule][] = Object.entries(checks).flatMap(([name, check]) =>
  named((value, at, found) => {
    const problem = check(value, at)
    const { tools } = found
    // At the top of the body, models may have a price for some of it.
    if (tools === undefined) return problem
    if (problem === undefined) {
      if (value === 'auto' && at === 'service_tier')
        found.ask({ kind: 'auto', name: value, param: at })
      return undefined
    }
    if (isSearch(name)) {
      tools.push({ name: 'web_search', refusal: problem })
      return undefined
    }
    const rates = outputRates(at, value)
    if (rates !== undefined) {
      for (const rate of rates) {
        found.ask({ kind: 'rate', name: rate, param: at, refusal: problem })
      }
      return undefined
    }
    const kind = askedBy[at]
    if (kind === undefined || typeof value !== 'string') return problem
    const other = found.asks?.find((ask) => ask.kind === kind)?.param
    if (other !== undefined) return wrong(at, `'${at}' and '${other}' cannot both name a tier`)
    found.ask({ kind, name: value, param: at, refusal: problem })
    return undefined
  }, name),
)

/** What these fields ask for. */
const askedBy: Readonly<Record<string, AskedTerm['kind'] | undefined>> = {
  __proto__: null as never,
  service_tier: 'tier',
  speed: 'tier',
  inference_geo: 'geo',
}

/** At the top of a body and in every object that no style defines. */
const anywhere: readonly [string, Rule][] = [
  ...checked,
  ...named(
    raises,
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens'],
    ...['max_length', 'max_gen_len', 'max_gen_length', 'max_gen_tokens', 'max_generated_tokens'],
    ...['max_generation_tokens', 'max_generation_length', 'max_tokens_to_sample'],
    ...['max_tokens_to_generate', 'max_decode_tokens', 'max_output_length', 'max_out_len'],
    ...['max_response_tokens', 'max_response_output_tokens', 'max_answer_tokens', 'max_len'],
    ...['max_total_tokens', 'max_seq_len', 'max_predict', 'n_predict', 'num_predict'],
    ...['num_tokens', 'num_tokens_to_generate', 'tokens_to_generate', 'response_length'],
    ...['min_tokens', 'min_new_tokens', 'min_length', 'min_completion_tokens'],
    ...['min_output_tokens', 'min_gen_len', 'min_tokens_to_generate', 'min_predict'],
  ),
  ...named(
    reasoning,
    ...['reasoning', 'reasoning_effort', 'reasoning_budget', 'reasoning_mode', 'reasoning_level'],
    ...['reasoning_config', 'reasoning_tokens', 'max_reasoning_tokens', 'enable_reasoning'],
    ...['include_reasoning', 'thinking', 'thinking_budget', 'thinking_budget_tokens'],
    ...['thinking_token_budget', 'thinking_tokens', 'max_thinking_tokens', 'thinking_config'],
    ...['thinking_level', 'thinking_mode', 'thinking_effort', 'enable_thinking', 'use_thinking'],
    ...['thinking_enabled', 'enable_deep_thinking', 'deep_thinking', 'think', 'prompt_mode'],
  ),
  ...named(oneOnly, 'num_return_sequences', 'num_completions', 'num_generations', 'num_samples'),
  ...named(caches, 'cache_control', 'cache_point'),
  ...named(edits, 'context_management'),
  ...named(foreign, 'file_id', 'container_id', 'vector_store_id', 'vector_store_ids', 'file_uri'),
  ...named(foreign, 'knowledge_id', 'knowledge_base_id', 'knowledge_base_ids', 'assistant_id'),
  ...named(foreign, 'agent_id', 'thread_id', 'conversation_id', 'context_id', 'preset'),
  ...named(foreign, 'previous_interaction_id', 'user_profile_id', 'previous_response_id'),
  ...named(passed, 'metadata', 'labels', 'json_schema', 'response_format', 'response_schema'),
  ...named(passed, 'response_json_schema', 'guided_json', 'structured_outputs', 'output_format'),
  ...named(passed, 'format', 'logit_bias', '_response_json_schema'),
]

/** At the top of a body: what all styles read themselves passes. */
const outer: Readonly<Record<string, Rule>> = {
  __proto__: null as never,
  ...Object.fromEntries(anywhere),
  ...Object.fromEntries(
    named(
      passed,
      ...['model', 'tools', 'tool_choice', 'stream', 'stream_options', 'text', 'stop', 'n'],
      ...['best_of', 'include'],
    ),
  ),
}

/** Deeper. */
const inner: readonly [string, Rule][] = [
  ...anywhere,
  ...named(reasoning, 'effort', 'budget_tokens', 'include_thoughts'),
  ...named(oneOnly, 'n', 'best_of', 'candidate_count'),
  ...named(notMerged, 'model', 'messages', 'tools', 'functions', 'stream', 'contents'),
  ...named(passed, 'schema', 'properties', 'definitions', '$defs'),
]

const exactInner: ReadonlyMap<string, { rule: Rule }> = new Map(
  inner.map(([name, rule]) => [name, { rule }]),
)
const spellings: ReadonlyMap<string, string> = new Map(
  inner.toReversed().map(([name]) => [squashed(name), name]),
)
type InnerRule = { rule: Rule } | { spelled: string } | undefined
/** Other names that came in, with the name each resembles. */
const judged = new Map<string, InnerRule>()
const maxJudged = 1_000

function innerRule(name: string): InnerRule {
  const exact = exactInner.get(name)
  if (exact !== undefined) return exact
  const before = judged.get(name)
  if (before !== undefined || judged.has(name)) return before
  if (judged.size >= maxJudged) judged.clear()
  const spelled = spellings.get(squashed(name))
  const rule = spelled === undefined ? undefined : { spelled }
  judged.set(name, rule)
  return rule
}

/** Names at the top of a body that may come in no other spelling. */
export const checkedFields: readonly string[] = anywhere.map(([name]) => name)

type OuterRules = Readonly<Record<string, Rule>>

/** For a style that reads these fields itself; of `settings` only the fields that are given. */
export const rulesWithout = (
  own: readonly string[],
  settings: Readonly<Record<string, readonly string[]>> = {},
): OuterRules => ({
  ...outer,
  ...Object.fromEntries(own.map((name) => [name, passed])),
  ...Object.fromEntries(
    Object.entries(settings).map(([name, read]) => {
      const readHere = new Set(read)
      const rule: Rule = (value, at, found) => found.search(value, at, readHere)
      return [name, rule]
    }),
  ),
})

/** Undefined: there are none, as in most calls. `tools`: takes note of searches. */
export function readExtras(
  fields: Fields,
  rules: OuterRules,
  tools?: ServerTool[],
): Extras | undefined {
  let found: Found | undefined
  for (const name in fields) {
    const rule = rules[name]
    if (rule === passed) continue
    const value = fields[name]
    if (value == null || (rule === undefined && isPlain(value))) continue
    found ??= new Found(tools)
    found.problem ??= rule === undefined ? found.search(value, name) : rule(value, name, found)
    if (found.problem !== undefined) return found
  }
  return found
}

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' ? !isAddress(value) : typeof value !== 'object'

/** For calls without output: what may not be asked for. */
export const extraProblem = (fields: Fields, rules: OuterRules): Refusal | undefined =>
  readExtras(fields, rules)?.problem

/** Takes over what a call asks for. `own`: the bound in the style's own field, for one answer. */
export function limitOutput(
  call: TextCall,
  own: number | undefined,
  extras: Extras | undefined,
  input: { hourCache: boolean },
): void {
  const bound = extras === undefined || own === undefined ? own : Math.max(own, extras.bound)
  if (bound !== undefined && Number.isFinite(bound)) call.maxOutputTokens = bound * call.choices
  if (input.hourCache || extras?.hourCache) call.hourCache = true
  if (extras === undefined) return
  if (extras.reasons) call.reasons = true
  if (extras.compacts) call.compacts = true
  if (extras.asks !== undefined) call.asks = extras.asks
}

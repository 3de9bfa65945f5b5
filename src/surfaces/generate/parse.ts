// Requests of the generate style: what the gateway itself must know of them. Everything else passes.
// The model and the kind of call are in the path.
import { Refusal, unknownObject } from '../../contract/errors.ts'
import type { AskedTerm, TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { limitOutput, readExtras, rulesWithout } from '../text/extra-fields.ts'
import { oneAnswerIn } from '../text/fields.ts'
import { unpriced } from '../text/refuse-extras.ts'
import { ContentCounter } from './count-input.ts'
import { fieldIn, givenTwice, snakeOf } from './fields.ts'
import { requestNames, settingNames } from './keys.ts'
import { readSettings } from './settings.ts'

const bothOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => [name, snakeOf(name)])

const rules = rulesWithout(
  bothOf(['contents', 'systemInstruction', 'serviceTier', 'toolConfig', 'generateContentRequest']),
  // Of the settings, thinking is asked for by the same names everywhere.
  Object.fromEntries(
    bothOf(['generationConfig']).map((name) => [
      name,
      bothOf(settingNames.filter((each) => each !== 'thinkingConfig')),
    ]),
  ),
)

export function parseGenerate(
  { text, fields }: JsonBody,
  modelName: string,
  stream: boolean,
): TextCall | Refusal {
  const model = pathModel(modelName, fields)
  if (model instanceof Refusal) return model
  const problem = requestProblem(fields)
  if (problem !== undefined) return problem
  const settings = readSettings(fieldIn(fields, 'generationConfig'))
  if (settings instanceof Refusal) return settings
  const extras = readExtras(fields, rules)
  const input = counterOf(fields)
  const refused = extras?.problem ?? input.problem
  if (refused !== undefined) return refused
  if (extras?.isOpen) input.open()
  const tier = askedTier(fields)
  if (tier instanceof Refusal) return tier
  const { choices, maxOutputTokens: bound, asks: outputs = [] } = settings
  const asks = tier === undefined ? outputs : [tier, ...outputs]
  const call: TextCall = {
    interface: 'generate',
    model,
    stream,
    makes: 'text',
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: input.tokens,
    inputBound: input.bound(text),
    ...(input.serverTools.length > 0 && { serverTools: input.serverTools }),
    choices,
    ...(asks.length > 0 && { asks }),
  }
  limitOutput(call, bound, extras, input)
  return call
}

/** The same without what only matters to an answer. The whole request may be one level down. */
export function parseCount({ text, fields }: JsonBody, modelName: string): TextCall | Refusal {
  const model = pathModel(modelName, fields)
  if (model instanceof Refusal) return model
  const twice = givenTwice(fields, requestNames)
  if (twice !== undefined) return twice
  const inner = fieldIn(fields, 'generateContentRequest')
  if (inner !== undefined && !isObject(inner)) {
    return wrong('generateContentRequest', "'generateContentRequest' must be an object")
  }
  const request = inner ?? fields
  const named = pathModel(modelName, request)
  if (named instanceof Refusal) return named
  const problem = requestProblem(request)
  if (problem !== undefined) return problem
  const tier = askedTier(request)
  if (tier instanceof Refusal) return tier
  const input = counterOf(request)
  const around = inner === undefined ? undefined : readExtras(fields, rules)?.problem
  const refused = around ?? readExtras(request, rules)?.problem ?? input.problem
  if (refused !== undefined) return refused
  return {
    interface: 'generate',
    model,
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: input.tokens,
    inputBound: input.bound(text),
    ...(input.serverTools.length > 0 && { serverTools: input.serverTools }),
    choices: 1,
    ...(tier !== undefined && { asks: [tier] }),
  }
}

/** A body may repeat the name, but not give another one: which of the two would be billed? */
export function pathModel(name: string, fields: Fields): string | Refusal {
  const model = modelIn({ model: name })
  if (model instanceof Refusal) return model
  const given = fields['model']
  if (given == null || given === model || given === `models/${model}`) return model
  return wrong('model', "'model' must be the model that the path names, or be left out")
}

function requestProblem(fields: Fields): Refusal | undefined {
  const twice = givenTwice(fields, requestNames)
  if (twice !== undefined) return twice
  const odd = contentsProblem(fields)
  if (odd !== undefined) return odd
  if (fieldIn(fields, 'cachedContent') !== undefined) return unknownObject('cachedContent')
  return oneAnswerIn(fields)
}

function contentsProblem(fields: Fields): Refusal | undefined {
  const contents = fields['contents'] ?? []
  if (!Array.isArray(contents)) return wrong('contents', "'contents' must be an array")
  // Instructions alone are a request, too, for upstreams of other styles.
  if (contents.length === 0 && fieldIn(fields, 'systemInstruction') == null) {
    return wrong('contents', "'contents' must be a non-empty array")
  }
  const odd = contents.findIndex((each) => !isObject(each))
  return odd === -1 ? undefined : wrong('contents', `'contents[${odd}]' must be an object`)
}

const usualTiers: readonly unknown[] = ['default', 'standard', 'unspecified']

/** `flex`, `FLEX` and `SERVICE_TIER_FLEX` are one. */
function askedTier(fields: Fields): AskedTerm | Refusal | undefined {
  const tier = fieldIn(fields, 'serviceTier')
  if (tier === undefined) return undefined
  const param = 'serviceTier'
  const refusal = unpriced(param, 'another service tier')
  if (typeof tier !== 'string') return refusal
  const name = tier.toLowerCase().replace(/^service_tier_/, '')
  if (usualTiers.includes(name)) return undefined
  return name === 'auto' ? { kind: 'auto', name, param } : { kind: 'tier', name, param, refusal }
}

const counterOf = (fields: Fields): ContentCounter =>
  new ContentCounter()
    .contents(fieldIn(fields, 'systemInstruction'))
    .contents(fields['contents'])
    .tools(fields['tools'])

// `generationConfig`: what bounds the output of a call, and output that has no price.
import { Refusal } from '../../contract/errors.ts'
import type { AskedTerm, TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { ratesOfOutput } from '../text/refuse-extras.ts'
import { fieldIn, givenTwice } from './fields.ts'
import { settingNames, thinkingNames } from './keys.ts'

/** More candidates than a call needs. */
export const maxCandidates = 128
const at = 'generationConfig.'

/** `maxOutputTokens` is of one answer. */
type Bounds = Pick<TextCall, 'choices' | 'maxOutputTokens'> & { asks?: readonly AskedTerm[] }

export function readSettings(config: unknown): Bounds | Refusal {
  if (config === undefined) return { choices: 1 }
  if (!isObject(config)) return wrong('generationConfig', "'generationConfig' must be an object")
  const problem = givenTwice(config, settingNames, at)
  if (problem !== undefined) return problem
  const asks = outputAsks(config)
  if (asks instanceof Refusal) return asks
  const choices = wholeIn(config, 'candidateCount', maxCandidates) ?? 1
  if (choices instanceof Refusal) return choices
  const limit = wholeIn(config, 'maxOutputTokens')
  if (limit instanceof Refusal) return limit
  const problemOfThinking = thinkingProblem(fieldIn(config, 'thinkingConfig'))
  if (problemOfThinking !== undefined) return problemOfThinking
  return {
    choices,
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(asks.length > 0 && { asks }),
  }
}

/** `thinkingBudget` is 0 for none and -1 for a number that the model chooses. */
function thinkingProblem(config: unknown): Refusal | undefined {
  if (config === undefined) return undefined
  const name = `${at}thinkingConfig`
  if (!isObject(config)) return wrong(name, `'${name}' must be an object`)
  const twice = givenTwice(config, thinkingNames, `${name}.`)
  if (twice !== undefined) return twice
  const budget = fieldIn(config, 'thinkingBudget')
  if (budget === undefined) return undefined
  if (typeof budget === 'number' && Number.isSafeInteger(budget) && budget >= -1) return undefined
  return wrong(
    `${name}.thinkingBudget`,
    `'${name}.thinkingBudget' must be a whole number of at least -1`,
  )
}

/** Output other than text, for models whose price has rates for it. */
function outputAsks(config: Fields): AskedTerm[] | Refusal {
  const asks: AskedTerm[] = []
  const ask = (field: string, rate: string, what: string) =>
    asks.push({ kind: 'rate', name: rate, param: at + field, refusal: unpriced(field, what) })
  const kinds = fieldIn(config, 'responseModalities')
  const rates = kinds === undefined ? [] : ratesOfOutput(kinds)
  if (rates === undefined) return unpriced('responseModalities', 'output other than text')
  for (const rate of rates) ask('responseModalities', rate, 'output other than text')
  if (fieldIn(config, 'speechConfig') !== undefined) ask('speechConfig', 'output_audio', 'audio')
  return asks
}

const unpriced = (name: string, what: string): Refusal =>
  wrong(
    at + name,
    `'${at}${name}' cannot be used: ${what} costs extra and the model has no price for it`,
  )

function wholeIn(
  config: Fields,
  name: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined | Refusal {
  const value = fieldIn(config, name)
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max) {
    return value
  }
  const range = max === Number.MAX_SAFE_INTEGER ? 'at least 1' : `from 1 to ${max}`
  return wrong(at + name, `'${at}${name}' must be a whole number ${range}`)
}

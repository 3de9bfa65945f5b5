// Checks a value against a declaration and reports problems in plain words.
import type { z } from 'zod'
import { priceDeclaration } from './prices.ts'

/** What is wrong with a declaration; `message` reads on after the setting's name. */
export interface Problem {
  path: readonly (string | number)[]
  message: string
  unknownKey: boolean
  /** A value other than a number where a number belongs. */
  wantsNumber: boolean
}

const units = priceDeclaration.options.map((option) => option.shape.unit.value)

const expectedWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'a set of names and values',
  record: 'a set of names and values',
}

const wording: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'is missing'
    return `must be ${expectedWords[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'invalid_union') return `must be one of ${units.join(', ')}`
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'is not a valid name'
  if (issue.code === 'too_small') {
    return issue.origin === 'array' ? 'must not be empty' : `must be at least ${issue.minimum}`
  }
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  return undefined
}

/** Checks a value against one of the schemas above; values never appear in a problem's text. */
export function checkDeclaration<T>(
  schema: z.ZodType<T>,
  value: unknown,
): { value: T } | { problems: readonly Problem[] } {
  const result = schema.safeParse(value, { error: wording })
  if (result.success) return { value: result.data }
  return { problems: result.error.issues.map(maxDepth).map(problemOf) }
}

type Issue = z.core.$ZodIssue

/** For a value with several possible forms: the problems of the form that it fits best. */
function maxDepth(issue: Issue): Issue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const isOtherShape = ([first]: readonly Issue[]) =>
    first?.code === 'invalid_type' && first.path.length === 0
  const fitting = issue.errors.filter((issues) => !isOtherShape(issues))
  const [inner] = fitting.toSorted((a, b) => misfits(a) - misfits(b))[0] ?? issue.errors[0] ?? []
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] }
}

const misfits = (issues: readonly Issue[]): number =>
  issues.reduce((sum, each) => sum + (each.code === 'unrecognized_keys' ? each.keys.length : 1), 0)

function problemOf(issue: Issue): Problem {
  const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (unknownKey !== undefined) path.push(unknownKey)
  return {
    path,
    message: issue.message,
    unknownKey: unknownKey !== undefined,
    wantsNumber: issue.code === 'invalid_type' && ['number', 'int'].includes(issue.expected),
  }
}

/** ['channels', 0, 'models', 'vfa-*'] -> 'channels[0].models["vfa-*"]' */
export const settingName = (path: readonly (string | number)[]): string =>
  path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (!/^[A-Za-z_]\w*$/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')

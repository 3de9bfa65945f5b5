// The text of a public price file and what is wanted of it, as one value: it is read where reading delays
// no other work.
import { isObject } from '../../lib/json/parse.ts'
import { type Converted, convert, maxPlaces, type SourceName } from './convert.ts'
import { one, parseFactor, times, withNumbersAsText } from './decimal.ts'

export interface SourceFile {
  source: SourceName
  text: string
  margin?: string | undefined
  rate?: string | undefined
  round?: number | undefined
  only?: string | undefined
}

interface SourceProblem {
  field: keyof SourceFile
  problem: string
}

export function convertText(file: SourceFile): Converted | SourceProblem {
  const { source, text, margin, rate, round = maxPlaces, only } = file
  const factors = { margin, rate }
  let factor = one
  for (const field of ['margin', 'rate'] as const) {
    const given = factors[field]
    const parsed = given === undefined ? one : parseFactor(given)
    if (parsed === undefined) return { field, problem: 'must be a decimal above 0, such as 1.2' }
    factor = times(factor, parsed)
  }
  let value: unknown
  try {
    value = JSON.parse(withNumbersAsText(text))
  } catch {
    return { field: 'text', problem: `is not JSON, so it is no file of ${source}` }
  }
  if (!isObject(value)) {
    return { field: 'text', problem: `is no file of ${source}: it must be a JSON object` }
  }
  const converted = convert(value, source, {
    factor,
    places: round,
    only: only === undefined ? [] : [only],
  })
  return converted.prices.length > 0
    ? converted
    : { field: 'text', problem: 'has no price that fits; check the source and the filter' }
}

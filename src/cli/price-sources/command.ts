// gateway price import FILE --from: a public price file as a list of prices here. Asks no gateway and
// publishes nothing.
import {
  convert,
  maxPlaces,
  type SourceName,
  sources,
} from '../../contract/price-sources/convert.ts'
import {
  type Decimal,
  one,
  parseFactor,
  times,
  withNumbersAsText,
} from '../../contract/price-sources/decimal.ts'
import { isObject } from '../../lib/json/parse.ts'
import { readText } from '../admin/prices.ts'
import type { Flags, Outcome } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { misuse } from '../terminal/stop.ts'
import { writeList } from './write-list.ts'

export const sourceFlags: Flags = {
  from: {
    value: Object.keys(sources).join('|'),
    summary: 'print the prices of such a file as a list; nothing is published',
  },
  margin: { value: 'FACTOR', summary: 'with --from: multiply prices, such as 1.2' },
  rate: { value: 'FACTOR', summary: "with --from: the gateway's currency for one US dollar" },
  round: { value: 'DECIMALS', summary: 'with --from: 0 to 9 decimals, half up; 9 unless given' },
  only: {
    value: 'PATTERN',
    many: true,
    summary: "with --from: 'gpt-*', or 'openai/*' with the provider",
  },
}

export function convertFile(line: Line): Outcome {
  const source = line.text('from') ?? ''
  if (!Object.hasOwn(sources, source)) {
    throw misuse(`--from takes ${Object.keys(sources).join(' or ')}, not '${source}'`)
  }
  const [margin, rate] = [factorOf(line, 'margin'), factorOf(line, 'rate')]
  const places = line.count('round') ?? maxPlaces
  if (places > maxPlaces) throw misuse(`--round takes 0 to ${maxPlaces} decimals`)
  const file = fileIn(line.arg(0), source)
  const options = { factor: times(margin, rate), places, only: line.texts('only') }
  const converted = convert(file, source as SourceName, options)
  if (converted.prices.length === 0) {
    const other = otherSources(source).find((name) => convert(file, name, plain).prices.length > 0)
    throw misuse(`${line.arg(0)} ${whyNone(source, other, converted.remarks, options.only)}`)
  }
  const { remarks, ...list } = converted
  const terms = `times ${line.text('rate') ?? '1'} (rate) times ${line.text('margin') ?? '1'} (margin)`
  const heading = [
    `from ${source}: US dollars ${terms}, rounded to ${places} decimals`,
    `${list.prices.length} prices; check them, then: gateway price import THIS_FILE --dry-run`,
  ]
  return {
    answer: list,
    text: writeList(converted, heading),
    note: remarks.map(shortened).join('\n'),
  }
}

const plain = { factor: one, places: maxPlaces, only: [] }

const otherSources = (source: string): SourceName[] =>
  (Object.keys(sources) as SourceName[]).filter((name) => name !== source)

function whyNone(
  source: string,
  other: SourceName | undefined,
  [remark]: readonly string[],
  only: readonly string[],
): string {
  if (other !== undefined) return `is a file of ${other}: use --from ${other}`
  if (remark !== undefined) return `has no price that can be used; ${shortened(remark)}`
  return only.length === 0
    ? `has no prices in the form of ${source}`
    : `has no model that fits --only ${only.map((each) => `'${each}'`).join(' or ')}`
}

/** The whole of it is in the list. */
const maxRemark = 200
const shortened = (remark: string): string =>
  remark.length > maxRemark ? `${remark.slice(0, maxRemark)} …` : remark

function factorOf(line: Line, flag: string): Decimal {
  const text = line.text(flag)
  if (text === undefined) return one
  const factor = parseFactor(text)
  if (factor === undefined) {
    throw misuse(`--${flag} takes a decimal above 0, such as 1.2, not '${text}'`)
  }
  return factor
}

function fileIn(path: string, source: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(withNumbersAsText(readText(path)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw misuse(`${path} is not JSON, so it is no file of ${source}`)
  }
  if (!isObject(value)) throw misuse(`${path} is no file of ${source}: it must be a JSON object`)
  return value
}

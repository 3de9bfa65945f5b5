// gateway model, gateway price and gateway cost: what can be asked for, what it costs, and what upstreams take. A price is sent as it was
// written; no arithmetic happens here.
import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { model, modelQuery } from '../../admin/catalog/model-schema.ts'
import { cost, costQuery, price, priceQuery } from '../../admin/catalog/price-schema.ts'
import { callUnits, type RateName, rateNames } from '../../contract/price.ts'
import { isObject } from '../../lib/json/parse.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Flags } from '../terminal/command.ts'
import { amountOf, type Line } from '../terminal/line.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, rowsOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

/** { per_million: { input: '0.80' } } -> 'input 0.80 per million'; tiers one after the other. */
function termsOf(row: Row): string {
  const tiers = rowsOf(row['tiers'])
  if (tiers.length > 0) {
    return tiers
      .map((tier) => {
        const upTo = tier['up_to']
        const range = upTo === undefined || upTo === null ? 'above' : `to ${cell(upTo)}`
        return `${range}: ${termsOf(tier)}`
      })
      .join('; ')
  }
  const units = ['per_million', 'per_image', 'per_second'].filter((key) => row[key] !== undefined)
  return cell(units.map((key) => `${cell(row[key])} ${key.replace('_', ' ')}`))
}

/** Rates of a price by tokens, and the names of their fields. */
const rateFlags: Readonly<Record<string, RateName>> = Object.fromEntries(
  rateNames.map((name) => [name.replaceAll('_', '-'), name]),
)
/** What other units call their amount. */
const amountFields: Readonly<Record<string, string>> = {
  image: 'per_image',
  video_second: 'per_second',
  video_token: 'per_million',
  ...Object.fromEntries(Object.entries(callUnits).map(([unit, { field }]) => [unit, field])),
}
const termFlags: Flags = {
  unit: {
    value: 'UNIT',
    summary: `token, ${Object.keys(amountFields).join(', ')}, free or default`,
  },
  input: { value: 'AMOUNT', summary: 'of the unit token: per million input tokens' },
  output: { value: 'AMOUNT', summary: 'per million output tokens' },
  'cache-read': { value: 'AMOUNT', summary: 'per million read from a cache; default: as input' },
  'cache-write': { value: 'AMOUNT', summary: 'per million written to a cache; default: as input' },
  'cache-write-1h': { value: 'AMOUNT', summary: 'per million written to a cache for an hour' },
  'input-audio': { value: 'AMOUNT', summary: 'per million of sound; default: as input' },
  'input-image': { value: 'AMOUNT', summary: 'per million of images; default: as input' },
  'output-audio': { value: 'AMOUNT', summary: 'per million of sound; default: as output' },
  'output-image': { value: 'AMOUNT', summary: 'per million of images; default: as output' },
  tier: {
    value: 'NAME=FACTOR',
    many: true,
    summary: 'a service tier, such as priority=2',
  },
  tool: {
    value: 'NAME=AMOUNT',
    many: true,
    summary: 'per call of a tool, such as web_search=0.05',
  },
  price: {
    value: '[SIZE=]AMOUNT',
    many: true,
    summary: 'of another unit: 0.20 per image, 720p=0.90 per second of that resolution',
  },
}

/** `own`: what a price or a cost has besides; each may be a flag, or in the body. */
function versionBody(line: Line, own: readonly string[]): Row {
  const [file, json] = [line.text('file'), line.text('json-body')]
  const named = [line.optionalArg(0), line.text('model')]
  if (named[0] !== undefined && named[1] !== undefined && named[0] !== named[1]) {
    throw misuse(`the price is for '${named[0]}', and --model says '${named[1]}'`)
  }
  const terms = Object.keys(termFlags).filter((flag) => line.has(flag))
  const given = [file, json, terms[0]].filter((each) => each !== undefined)
  if (given.length !== 1) {
    const [first] = terms
    const clash = first === undefined ? '' : `; --${first} is one of the terms`
    throw misuse(`the version needs one of --file, --json-body and its terms (--unit …)${clash}`)
  }
  const body = file === undefined ? lineBody(line, json) : parseText(readText(file), file)
  const said: Record<string, string | undefined> = {
    model: line.optionalArg(0) ?? line.text('model'),
    ...Object.fromEntries(own.map((field) => [field, line.text(field)])),
  }
  for (const [field, value] of Object.entries(said)) {
    const other = body[field]
    if (value === undefined || other === undefined || other === value) continue
    throw misuse(`--${field} says '${value}' and the price says '${cell(other)}'`)
  }
  if ((said['model'] ?? body['model']) === undefined) throw misuse('the version needs a model')
  const from = line.time('effective-from')
  return {
    ...body,
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
    ...(from !== undefined && { effective_from: from }),
  }
}

const lineBody = (line: Line, json: string | undefined): Row =>
  json === undefined ? termsFrom(line) : parseText(json, '--json-body')

function termsFrom(line: Line): Row {
  const unit = line.text('unit') ?? (line.has('input') ? 'token' : undefined)
  if (unit === undefined) throw misuse('the version needs --unit')
  const isToken = unit === 'token'
  const field = isToken ? undefined : amountFields[unit]
  const misplaced = Object.keys(termFlags).find(
    (flag) => line.has(flag) && flag !== 'unit' && (flag === 'price') !== (field !== undefined),
  )
  if (misplaced !== undefined && (isToken || field !== undefined)) {
    throw misuse(`a price by ${unit} has no --${misplaced}`)
  }
  if (isToken) {
    const rates = Object.entries(rateFlags).flatMap(([flag, name]) => {
      const amount = line.amount(flag)
      return amount === undefined ? [] : [[name, amount]]
    })
    const tools = line.pairs('tool', 'NAME=AMOUNT')
    const tiers = Object.entries(line.pairs('tier', 'NAME=FACTOR') ?? {})
    const service_tiers = Object.fromEntries(tiers.map(([name, factor]) => [name, { factor }]))
    return {
      unit,
      per_million: Object.fromEntries(rates),
      ...(tools && { per_call: tools }),
      ...(tiers.length > 0 && { service_tiers }),
    }
  }
  return field === undefined ? { unit } : { unit, [field]: amountsOf(line) }
}

/** '0.20', or { '720p': '0.90', … } */
function amountsOf(line: Line): string | Row | undefined {
  const texts = line.texts('price')
  const [only] = texts
  if (texts.length === 1 && !only!.includes('=')) return amountOf(only!, '--price')
  return line.pairs('price', 'AMOUNT or SIZE=AMOUNT')
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw misuse(`cannot read ${file}: ${(error as { code?: string }).code ?? error}`)
  }
}

/** JSON is YAML, so one parser reads both. */
function parseText(text: string, from: string, what = 'price'): Row {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw misuse(`${from} is not valid YAML or JSON: ${(error as Error).message.split('\n')[0]}`)
  }
  if (!isObject(value)) throw misuse(`${from} must hold one ${what}, as an object`)
  return value
}

/** txta-plus=3 -> { model: 'txta-plus', weight: 3 } */
function memberOf(text: string): string | { model: string; weight: number } {
  const [name = '', weight] = text.split('=', 2)
  if (weight === undefined) return name
  const number = Number(weight)
  if (weight === '' || !Number.isFinite(number)) throw misuse(`'${text}' has no weight`)
  return { model: name, weight: number }
}

function modelBody(line: Line): object {
  const [members, alias] = [line.list('virtual'), line.text('alias')]
  const file = line.text('file')
  const given = [members, alias, file].filter((each) => each !== undefined)
  if (given.length !== 1) throw misuse('model put needs one of --virtual, --alias and --file')
  if (file !== undefined) return parseText(readText(file), file, 'model')
  if (alias !== undefined) return { alias }
  return {
    kind: line.text('kind') ?? 'text',
    virtual: members!.map(memberOf),
    price: line.text('price') ?? 'served',
  }
}

export const priceCommands: readonly Command[] = [
  listCommand(
    { path: ['model', 'list'], summary: 'the catalog of models' },
    { path: '/models', what: 'models', item: model, query: modelQuery },
  ),
  askCommand({
    path: ['model', 'put'],
    args: ['NAME'],
    summary: 'add a virtual model, an alias or a model, or replace one',
    flags: {
      virtual: { value: 'MODEL[=WEIGHT],…', summary: 'the models that serve it, best first' },
      kind: { value: 'KIND', summary: 'of a virtual model; default text' },
      price: { value: 'own|served', summary: 'of a virtual model; default served' },
      alias: { value: 'MODEL', summary: 'the model that it is another name of' },
      file: { value: 'FILE', summary: 'YAML or JSON, the same fields as in gateway.yaml' },
    },
    call: 'PUT /models/:id',
    body: ({ line }) => modelBody(line),
  }),
  askCommand({
    path: ['model', 'delete'],
    args: ['NAME'],
    summary: 'remove a model that was added; its prices and charges stay',
    call: 'DELETE /models/:id',
    text: ({ id }) => `deleted ${cell(id)}`,
  }),
  listCommand(
    { path: ['price', 'list'], summary: 'price versions' },
    {
      path: '/prices',
      what: 'prices',
      item: price,
      query: priceQuery,
      own: { terms: termsOf },
    },
  ),
  askCommand({
    path: ['price', 'delete'],
    args: ['ID'],
    summary: 'withdraw a version that has not begun',
    call: 'DELETE /prices/:id',
    text: ({ id }) => `deleted ${cell(id)}`,
  }),
  askCommand({
    path: ['price', 'create'],
    args: ['[MODEL]'],
    summary: 'add a price version, which takes over from the one before',
    flags: {
      model: { value: 'MODEL', summary: 'unless the price names it' },
      account: { value: 'ACCOUNT', summary: 'its own price, which wins over the general one' },
      'effective-from': { value: 'TIME', summary: 'when it takes effect; at once if left out' },
      ...termFlags,
      file: { value: 'FILE', summary: 'YAML or JSON, the same fields as in gateway.yaml' },
      'json-body': { value: 'JSON', summary: 'the same as text' },
    },
    call: 'POST /prices',
    body: ({ line }) => versionBody(line, ['account']),
  }),
  listCommand(
    { path: ['cost', 'list'], summary: 'versions of what upstreams take' },
    { path: '/costs', what: 'costs', item: cost, query: costQuery, own: { terms: termsOf } },
  ),
  askCommand({
    path: ['cost', 'create'],
    args: ['[MODEL]'],
    summary: 'add a version of what the upstream of a channel takes for a model',
    flags: {
      model: { value: 'MODEL', summary: 'unless the cost names it' },
      channel: { value: 'CHANNEL', summary: 'whose upstream takes it, unless the cost names it' },
      currency: { value: 'CODE', summary: "of its amounts; default: the ledger's" },
      'effective-from': { value: 'TIME', summary: 'when it takes effect; at once if left out' },
      ...termFlags,
      file: { value: 'FILE', summary: 'YAML or JSON, the same fields as in gateway.yaml' },
      'json-body': { value: 'JSON', summary: 'the same as text' },
    },
    call: 'POST /costs',
    body: ({ line }) => versionBody(line, ['channel', 'currency']),
  }),
  askCommand({
    path: ['cost', 'import'],
    args: ['FILE'],
    summary: 'add versions of costs from a YAML file, all or none',
    flags: { 'dry-run': { summary: 'only tell what would change' } },
    call: 'POST /costs/import',
    body: ({ line }) => ({ yaml: readText(line.arg(0)), dry_run: line.has('dry-run') }),
    text: ({ added, unchanged, dry_run }) =>
      `${cell(added)} ${dry_run === true ? 'to add' : 'added'}, ${cell(unchanged)} unchanged`,
  }),
  askCommand({
    path: ['cost', 'delete'],
    args: ['ID'],
    summary: 'withdraw a version that has not begun',
    call: 'DELETE /costs/:id',
    text: ({ id }) => `deleted ${cell(id)}`,
  }),
]

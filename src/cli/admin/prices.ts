// gateway model and gateway price: what can be asked for and what it costs. A price is sent as it was
// written; no arithmetic happens here.
import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { model, modelQuery } from '../../admin/catalog/model-schema.ts'
import { price, priceQuery } from '../../admin/catalog/price-schema.ts'
import { isObject } from '../../lib/json/parse.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
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

function priceBody(line: Line): Row {
  const file = line.text('file')
  const json = line.text('json-body')
  if ((file === undefined) === (json === undefined)) {
    throw misuse('price create needs either --file or --json-body')
  }
  const body =
    file === undefined ? parseText(json!, '--json-body') : parseText(readText(file), file)
  const said = { model: line.text('model'), account: line.text('account') }
  for (const [field, value] of Object.entries(said)) {
    const other = body[field]
    if (value === undefined || other === undefined || other === value) continue
    throw misuse(`--${field} says '${value}' and the price says '${cell(other)}'`)
  }
  const model = said.model ?? body['model']
  if (model === undefined) throw misuse('price create needs --model')
  return { ...body, model, ...(said.account !== undefined && { account: said.account }) }
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
    path: ['price', 'create'],
    summary: 'add a price version, which takes over from the one before',
    flags: {
      model: { value: 'MODEL', summary: 'unless the price names it' },
      account: { value: 'ACCOUNT', summary: 'its own price, which wins over the general one' },
      file: { value: 'FILE', summary: 'YAML or JSON, the same fields as in gateway.yaml' },
      'json-body': { value: 'JSON', summary: 'the same as text' },
    },
    call: 'POST /prices',
    body: ({ line }) => priceBody(line),
  }),
]

// Models and prices as documents tell of them.

import { modelKinds } from '../../contract/catalog.ts'
import {
  modelDeclaration,
  priceDeclaration,
  priceListDeclaration,
} from '../../contract/config-schema/index.ts'
import { interfaces, protocols } from '../../contract/config-schema/names.ts'
import { answered, inQuery, json, type Operation } from '../../http/operation.ts'
import {
  flag,
  list,
  money,
  named,
  number,
  object,
  orNull,
  type Schema,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { importBody } from '../catalog/price-lists.ts'
import { previewBody } from '../catalog/price-preview.ts'
import { termFields } from './price-fields.ts'
import {
  accountParameter,
  adminOperation,
  bodyOf,
  created,
  idOf,
  modelParameter,
  pageOf,
  pageParameters,
  schemaOf,
  source,
  staffOnly,
} from './shared.ts'

const model = named(
  'CatalogModel',
  object({
    name: text(),
    kind: word(modelKinds),
    interfaces: list(word(interfaces)),
    'protocols?': list(word(protocols), { description: staffOnly }),
    display_name: text(),
    context_window: orNull(whole(1)),
    max_output_tokens: orNull(whole(1)),
    max_tokens_per_image: orNull(whole(1)),
    source,
    callable: flag('A channel serves it and a price is in force.'),
    not_callable_because: orNull(text()),
    price_id: orNull(text()),
    'own_prices?': list(text(), {
      description: `Accounts with a price of their own. ${staffOnly}`,
    }),
  }),
)

/** The path has the name. */
function modelBody(): Schema {
  const { properties, required, ...rest } = schemaOf(modelDeclaration)
  const { name: _, ...others } = properties as Record<string, Schema>
  const left = (required as string[]).filter((each) => each !== 'name')
  return { ...rest, properties: { ...others, name: {} }, required: left }
}

export const priceFields = {
  id: text(),
  model: text(),
  account: orNull(text("Whose own price it is; null: everybody's.")),
  ...termFields,
  effective_from: time(),
  current: flag('Whether it is in force.'),
  source,
}

export const price = named('Price', object(priceFields))

const imported = named(
  'PriceImport',
  object({
    dry_run: flag(),
    added: whole(0),
    unchanged: whole(0),
    superseded: whole(0),
    items: list(
      object({
        line: whole(1),
        outcome: word(['added', 'unchanged', 'superseded']),
        id: orNull(text()),
        model: text(),
        account: orNull(text()),
        ...termFields,
        effective_from: time(),
      }),
    ),
  }),
)

const compared = {
  charges: whole(0),
  charged: money(),
  would_charge: orNull(money()),
  difference: orNull(money()),
  exact: flag(),
  'at_least?': money(),
  'at_most?': money(),
  'not_comparable?': text('Why the two cannot be compared.'),
}

const preview = named(
  'PricePreview',
  object({
    from: time(),
    to: time(),
    currency: text(),
    exact: flag(),
    total: object(compared),
    items: list(
      object({ account: text(), model: text(), unit: text(), quantity: number(), ...compared }),
    ),
    left_off: whole(0),
  }),
)

const priceFile = named('PriceFile', schemaOf(priceListDeclaration))

const tag = 'Models and prices'
const tokenPrice = { unit: 'token', per_million: { input: '0.60', output: '1.50' } }
const yamlList =
  'prices:\n  - model: txta-plus\n    unit: token\n    per_million: { input: "0.60", output: "1.50" }\n'

export const priceOperations: readonly Operation[] = [
  adminOperation({
    id: 'listCatalog',
    method: 'get',
    path: '/models',
    tag,
    summary: 'List the catalog, by name',
    parameters: pageParameters,
    answers: [answered(named('CatalogModelList', pageOf(model)), 'A page of models.')],
  }),
  adminOperation({
    id: 'putModel',
    method: 'put',
    path: '/models/{id}',
    tag,
    summary: 'Add a model to the catalog, or replace one',
    parameters: [idOf('the model: its name')],
    body: bodyOf(named('ModelDeclaration', modelBody()), {
      text: { kind: 'text', interfaces: ['chat'], display_name: 'House Writer' },
    }),
    answers: [answered(model, 'The model.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'listPrices',
    method: 'get',
    path: '/prices',
    tag,
    summary: 'List all versions of prices',
    parameters: [modelParameter, accountParameter, ...pageParameters],
    answers: [answered(named('PriceList', pageOf(price)), 'A page of them.')],
  }),
  adminOperation({
    id: 'createPrice',
    method: 'post',
    path: '/prices',
    tag,
    summary: 'Make a new version of a price',
    body: bodyOf(named('PriceDeclaration', schemaOf(priceDeclaration)), {
      tokens: { model: 'txta-plus', account: 'acme', ...tokenPrice },
      seconds: {
        model: 'vfb-1.1-t2v',
        account: 'acme',
        unit: 'video_second',
        per_second: { '720p': '0.80', '1080p': '1.10' },
      },
    }),
    answers: [created(price, 'The version.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'previewPrices',
    method: 'post',
    path: '/prices/preview',
    tag,
    summary: 'What drafts would have charged over a past period',
    body: bodyOf(named('PricePreviewRequest', schemaOf(previewBody)), {
      month: { month: '2026-11', prices: [{ model: 'txta-plus', ...tokenPrice }] },
    }),
    answers: [answered(preview, 'Both sides, account by account and model by model.')],
    refusals: ['not_found'],
  }),
  adminOperation({
    id: 'exportPrices',
    method: 'get',
    path: '/prices/export',
    tag,
    summary: 'What is in force or will be, as a file',
    parameters: [inQuery('format', word(['yaml', 'csv'], 'Default `yaml`.'))],
    answers: [
      {
        status: 200,
        description: 'The list.',
        headers: ['content-disposition'],
        content: { 'application/yaml': { schema: priceFile }, 'text/csv': { schema: text() } },
      },
    ],
  }),
  adminOperation({
    id: 'importPrices',
    method: 'post',
    path: '/prices/import',
    tag,
    summary: 'Take in a list of prices, as a whole or not at all',
    parameters: [
      inQuery('format', word(['yaml', 'csv'], 'Of the body, where its type does not say.')),
      inQuery('dry_run', word(['true', 'false'])),
    ],
    body: {
      required: true,
      content: {
        ...json(named('PriceImportRequest', schemaOf(importBody)), {
          trial: { format: 'yaml', text: yamlList, dry_run: true },
        }),
        'application/yaml': { schema: priceFile },
        'text/csv': { schema: text() },
      },
    },
    answers: [answered(imported, 'What came of each price.')],
    refusals: ['conflict'],
  }),
]

// Prices in bulk: everything that is in force or will be as YAML or as a table, and such lists taken
// in again. A list is taken in as a whole or not at all.
import { z } from 'zod'
import {
  type ListedPrice,
  type ListProblem,
  writeYamlPrices,
} from '../../billing/prices/price-list.ts'
import { writeCsvPrices } from '../../billing/prices/price-table.ts'
import { declaredTerms } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Price } from '../../contract/price.ts'
import { type ImportedPrice, importPrices } from '../../engine/catalog/import-prices.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import { readBody as readTextBody } from '../../http/body/read-json.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'
import {
  type AdminDeps,
  maxImportBytes,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { readAside } from './read-aside.ts'

const formats = {
  yaml: { type: 'application/yaml', write: writeYamlPrices },
  csv: { type: 'text/csv', write: writeCsvPrices },
} as const
type Format = keyof typeof formats

export const priceLists: Resource = (app, deps) => {
  const { engine } = deps

  app.get(
    '/prices/export',
    route(({ query }, x) => {
      const format = formatOf(query('format') ?? 'yaml')
      if (format instanceof Refusal) return format
      const { type, write } = formats[format]
      const headers = answerHeaders(x, `${type}; charset=utf-8`)
      headers['content-disposition'] = `attachment; filename="prices.${format}"`
      return new Response(write(engine.prices.active()), { headers })
    }),
  )

  app.post(
    '/prices/import',
    route(async ({ query }, x) => {
      const asked = await askedFor(x, deps, query)
      if (asked instanceof Refusal) return asked
      const list = await readPriceList(asked.format, asked.text)
      if (list instanceof Refusal) return list
      const how = { atMs: x.atMs, dryRun: asked.dryRun }
      const done = await importPrices(engine, list, how, (tx, price) =>
        recordChange(tx, x, {
          action: 'price.import',
          subject: price.id,
          after: wordsOf(price),
        }),
      )
      if ('problems' in done) return refusalOf(done.problems)
      if (!asked.dryRun) await announce(engine)
      return outcomeView(done.prices, asked.dryRun)
    }),
  )
}

export async function readPriceList(
  format: Format,
  text: string,
): Promise<ListedPrice[] | Refusal> {
  const list = await readAside(format, text, 'text')
  if (list instanceof Refusal) return list
  return 'problems' in list ? refusalOf(list.problems) : list.prices
}

const formatOf = (text: string): Format | Refusal =>
  Object.hasOwn(formats, text)
    ? (text as Format)
    : refuse('invalid_request', "'format' must be yaml or csv", { param: 'format' })

interface Asked {
  format: Format
  text: string
  dryRun: boolean
}

export const importBody = z.strictObject({
  format: z.enum(['yaml', 'csv']),
  text: z.string(),
  dry_run: z.boolean().optional(),
})

/** The list itself as the body, or as a text in JSON. */
async function askedFor(
  x: Exchange,
  deps: AdminDeps,
  query: (name: string) => string | undefined,
): Promise<Asked | Refusal> {
  const flag = query('dry_run') ?? 'false'
  if (flag !== 'true' && flag !== 'false') {
    return refuse('invalid_request', "'dry_run' must be true or false", { param: 'dry_run' })
  }
  const type = x.request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const named = query('format') ?? (/\b(?:x-)?yaml$/.test(type) ? 'yaml' : /\bcsv$/.exec(type)?.[0])
  if (named === undefined) {
    if (type !== 'application/json') {
      const message = 'send the list as text/csv or application/yaml, or name it in ?format='
      return refuse('unsupported_media_type', message)
    }
    const body = await readBody(x, deps, importBody, maxImportBytes)
    if (body instanceof Refusal) return body
    const { format, text, dry_run: dryRun = flag === 'true' } = body
    return { format, text, dryRun }
  }
  const format = formatOf(named)
  if (format instanceof Refusal) return format
  const text = await readTextBody(x, { ...deps.limits, bodyBytes: maxImportBytes })
  return text instanceof Refusal ? text : { format, text, dryRun: flag === 'true' }
}

const maxTold = 10

function refusalOf(problems: readonly ListProblem[]): Refusal {
  const told = problems
    .slice(0, maxTold)
    .map(({ line, field, message }) => `line ${line}: ${field} ${message}`)
  const more = problems.length - told.length
  if (more > 0) told.push(`and ${more} more`)
  return refuse('invalid_request', told.join('; '), { param: problems[0]!.field })
}

const wordsOf = ({ model, account, terms, effectiveFromMs }: Price) => ({
  model,
  account: account?.name ?? null,
  ...declaredTerms(terms),
  effective_from: time(effectiveFromMs),
})

function outcomeView(prices: readonly ImportedPrice[], dryRun: boolean) {
  const count = (wanted: string) => prices.filter(({ outcome }) => outcome === wanted).length
  return {
    dry_run: dryRun,
    added: count('added'),
    unchanged: count('unchanged'),
    superseded: count('superseded'),
    items: prices.map(({ line, outcome, price }) => ({
      line,
      outcome,
      // A trial makes no version, so there is nothing to look up.
      id: dryRun && outcome === 'added' ? null : price.id,
      ...wordsOf(price),
    })),
  }
}

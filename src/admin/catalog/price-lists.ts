// Prices in bulk: everything that is in force or will be as YAML or as a table, and such lists taken
// in again. A list is taken in as a whole or not at all.
import {
  type ListProblem,
  type ReadList,
  writeYamlPrices,
} from '../../billing/prices/price-list.ts'
import { writeCsvPrices } from '../../billing/prices/price-table.ts'
import { declaredTerms, priceListDeclaration } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Price } from '../../contract/price.ts'
import { type ImportedPrice, importPrices } from '../../engine/catalog/import-prices.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { readTextBody } from '../../http/body/read-json.ts'
import { answerHeaders } from '../../http/request-context.ts'
import { text } from '../../http/schema.ts'
import { auditChange, time } from '../answers.ts'
import { forStaff } from '../permission.ts'
import type { Ask, View } from '../route.ts'
import { maxImportBytes, readBody } from '../serve.ts'
import { notifyPrice } from './price-changes.ts'
import { exportQuery, importBody, importQuery, priceImport } from './price-schema.ts'
import { priceRoute } from './prices.ts'
import { readAside } from './read-aside.ts'

const formats = {
  yaml: { type: 'application/yaml', write: writeYamlPrices },
  csv: { type: 'text/csv', write: writeCsvPrices },
} as const
type Format = keyof typeof formats

function exportList({ engine, query, x }: Ask<{ query: typeof exportQuery }>) {
  const format = query.format ?? 'yaml'
  const { type, write } = formats[format]
  const headers = answerHeaders(x, `${type}; charset=utf-8`)
  headers['content-disposition'] = `attachment; filename="prices.${format}"`
  return new Response(write(engine.prices.active()), { headers })
}

async function importList(ask: Ask<{ query: typeof importQuery }>) {
  const { engine, x } = ask
  const asked = await listIn(ask)
  if (asked instanceof Refusal) return asked
  const list = await readPriceList(asked.format, asked.text)
  if (list instanceof Refusal) return list
  const createdBy = ask.viewer?.actor ?? 'gateway'
  const how = { atMs: x.atMs, dryRun: asked.dryRun, createdBy }
  const done = await importPrices(engine, list, how, {
    price: async (tx, price) => {
      await auditChange(tx, x, { action: 'price.import', subject: price.id, after: wordsOf(price) })
      await notifyPrice(engine, tx, price, x.atMs)
    },
    model: (tx, { name, kind, interfaces }) =>
      auditChange(tx, x, {
        action: 'model.put',
        subject: name,
        after: { name, kind, interfaces },
      }),
  })
  if ('problems' in done) return refusalOf(done.problems)
  engine.jobs.notices.wake()
  if (!asked.dryRun) await announce(engine, noTokens)
  return outcomeView(done, asked.dryRun)
}

interface GivenList {
  format: Format
  text: string
  dryRun: boolean
}

/** The list itself as the body, or as a text in JSON. */
async function listIn({ query, deps: { limits }, x }: Ask<{ query: typeof importQuery }>) {
  const dryRun = query.dry_run
  const type = x.request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const isCsv = /\bcsv$/.test(type) ? 'csv' : undefined
  const format = query.format ?? (/\b(?:x-)?yaml$/.test(type) ? 'yaml' : isCsv)
  if (format !== undefined) {
    const list = await readTextBody(x, { ...limits, bodyBytes: maxImportBytes })
    return list instanceof Refusal ? list : ({ format, text: list, dryRun } satisfies GivenList)
  }
  if (type !== 'application/json') {
    const message = 'send the list as text/csv or application/yaml, or name it in ?format='
    return refuse('unsupported_media_type', message)
  }
  const body = await readBody(x, limits, importBody, maxImportBytes)
  if (body instanceof Refusal) return body
  return { ...body, dryRun: body.dry_run ?? dryRun } satisfies GivenList
}

export async function readPriceList(format: Format, text: string): Promise<ReadList | Refusal> {
  const list = await readAside(format, text, 'text')
  if (list instanceof Refusal) return list
  return 'problems' in list ? refusalOf(list.problems) : list
}

const maxProblems = 10

function refusalOf(problems: readonly ListProblem[]): Refusal {
  const listed = problems
    .slice(0, maxProblems)
    .map(({ line, field, message }) => `line ${line}: ${field} ${message}`)
  const more = problems.length - listed.length
  if (more > 0) listed.push(`and ${more} more`)
  return refuse('invalid_request', listed.join('; '), { param: problems[0]!.field })
}

const wordsOf = ({ model, account, terms, effectiveFromMs }: Price) => ({
  model,
  account: account?.name ?? null,
  ...declaredTerms(terms),
  effective_from: time(effectiveFromMs),
})

function outcomeView(
  { prices, models }: { prices: readonly ImportedPrice[]; models: readonly unknown[] },
  dryRun: boolean,
): View<typeof priceImport> {
  const count = (wanted: string) => prices.filter(({ outcome }) => outcome === wanted).length
  return {
    dry_run: dryRun,
    added: count('added'),
    unchanged: count('unchanged'),
    superseded: count('superseded'),
    models_added: models.length,
    items: prices.map(({ line, outcome, price }) => ({
      line,
      outcome,
      // A trial makes no version, so there is nothing to look up.
      id: dryRun && outcome === 'added' ? null : price.id,
      ...wordsOf(price),
    })),
  }
}

const yamlList =
  'prices:\n  - model: txta-plus\n    unit: token\n    per_million: { input: "0.60", output: "1.50" }\n'
const priceFile = priceListDeclaration.meta({ id: 'PriceFile' })

export const priceListRoutes = [
  priceRoute('GET /prices/export', {
    id: 'exportPrices',
    permission: forStaff,
    summary: 'What is in force or will be, as a file',
    query: exportQuery,
    files: { 'application/yaml': priceFile, 'text/csv': text() },
    headers: ['content-disposition'],
    returns: 'The list.',
    handle: exportList,
  }),
  priceRoute('POST /prices/import', {
    id: 'importPrices',
    summary: 'Import a list of prices, as a whole or not at all',
    query: importQuery,
    request: {
      'application/json': {
        schema: importBody,
        examples: { trial: { format: 'yaml', text: yamlList, dry_run: true } },
      },
      'application/yaml': { schema: priceFile },
      'text/csv': { schema: text() },
    },
    answer: priceImport,
    returns: 'What came of each price.',
    refusals: ['conflict'],
    handle: importList,
  }),
]

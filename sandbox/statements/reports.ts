// Statements of what was served: the reports of three makers on costs and usage, asked for with `adm-` before the key that was
// used, and a table with a line for each call.
import { csvRow } from '../../src/lib/text/csv.ts'
import { anyKey } from '../protocol.ts'
import { type BilledCall, dollars, type ServedCalls } from './served-calls.ts'

const dayMs = 86_400_000
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
/** Buckets of a page. */
const daysPerPage = 7

interface ModelSum {
  input: bigint
  output: bigint
  inputTokens: number
  outputTokens: number
  requests: number
}

/** Undefined: the path is no report. */
export function report(served: ServedCalls, request: Request): Response | undefined {
  const { pathname, searchParams } = new URL(request.url)
  const answer = Object.hasOwn(reports, pathname) ? reports[pathname] : undefined
  if (answer === undefined || request.method !== 'GET') return undefined
  const [, key] = /^adm-(.+)$/.exec(anyKey(request.headers)) ?? []
  if (key === undefined) {
    return Response.json({ error: { message: 'an admin key is needed' } }, { status: 401 })
  }
  return answer(served, key, searchParams)
}

type Answer = (served: ServedCalls, key: string, search: URLSearchParams) => Response

const reports: Readonly<Record<string, Answer>> = {
  '/v1/organization/costs'(served, key, search) {
    const seconds = (name: string) => Number(search.get(name) ?? 0) * 1000
    return paged(search, seconds('start_time'), seconds('end_time'), (fromMs) => ({
      object: 'bucket',
      start_time: fromMs / 1000,
      end_time: (fromMs + dayMs) / 1000,
      results: [...sumsOf(served, key, fromMs)].flatMap(([model, sum]) =>
        (['input', 'output'] as const).map((side) => ({
          object: 'organization.costs.result',
          amount: { value: Number(dollars(sum[side])), currency: 'usd' },
          line_item: `${model}, ${side}`,
        })),
      ),
    }))
  },
  '/v1/organization/usage/completions'(served, key, search) {
    const seconds = (name: string) => Number(search.get(name) ?? 0) * 1000
    return paged(search, seconds('start_time'), seconds('end_time'), (fromMs) => ({
      object: 'bucket',
      start_time: fromMs / 1000,
      end_time: (fromMs + dayMs) / 1000,
      results: [...sumsOf(served, key, fromMs)].map(([model, sum]) => ({
        object: 'organization.usage.completions.result',
        ...{ model, input_tokens: sum.inputTokens, output_tokens: sum.outputTokens },
        num_model_requests: sum.requests,
      })),
    }))
  },
  '/v1/organizations/usage_report/messages'(served, key, search) {
    const time = (name: string) => Date.parse(search.get(name) ?? '')
    return paged(search, time('starting_at'), time('ending_at'), (fromMs) => ({
      starting_at: `${dayOf(fromMs)}T00:00:00Z`,
      ending_at: `${dayOf(fromMs + dayMs)}T00:00:00Z`,
      results: [...sumsOf(served, key, fromMs)].map(([model, sum]) => ({
        ...{ model, uncached_input_tokens: sum.inputTokens, cache_read_input_tokens: 0 },
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: sum.outputTokens,
      })),
    }))
  },
  '/v1/organizations/cost_report'(served, key, search) {
    const time = (name: string) => Date.parse(search.get(name) ?? '')
    return paged(search, time('starting_at'), time('ending_at'), (fromMs) => ({
      starting_at: `${dayOf(fromMs)}T00:00:00Z`,
      ending_at: `${dayOf(fromMs + dayMs)}T00:00:00Z`,
      results: [...sumsOf(served, key, fromMs)].map(([model, { input, output }]) => ({
        currency: 'USD',
        // In cents.
        amount: dollars((input + output) * 100n),
        model,
        description: `${model} usage`,
        cost_type: 'tokens',
      })),
    }))
  },
  '/api/v1/activity'(served, key, search) {
    const date = search.get('date') ?? ''
    const data = [...sumsOf(served, key, Date.parse(date))].map(([model, sum]) => ({
      date,
      model,
      usage: Number(dollars(sum.input + sum.output)),
      requests: sum.requests,
      prompt_tokens: sum.inputTokens,
      completion_tokens: sum.outputTokens,
    }))
    return Response.json({ data })
  },
  '/_sandbox/statement'(served, key, search) {
    const time = (name: string, other: number) => Date.parse(search.get(name) ?? '') || other
    const calls = served.of(key, time('from', 0), time('to', Number.POSITIVE_INFINITY))
    const body = [csvRow(columns), ...Array.from(calls, lineOf)].join('')
    return new Response(body, { headers: { 'content-type': 'text/csv; charset=utf-8' } })
  },
}

const columns = ['Request ID', 'Time', 'Model', 'Total tokens', 'Cost', 'Currency']

const lineOf = ({ id, atMs, model, inputTokens, outputTokens, input, output }: BilledCall) =>
  csvRow([
    ...[id, new Date(atMs).toISOString(), model, inputTokens + outputTokens],
    ...[dollars(input + output), 'USD'],
  ])

function paged(
  search: URLSearchParams,
  fromMs: number,
  untilMs: number,
  bucketOf: (fromMs: number) => object,
): Response {
  const at = Number(search.get('page') ?? 0)
  const days = Math.ceil((untilMs - fromMs) / dayMs)
  const shown = Math.max(0, Math.min(daysPerPage, days - at))
  const data = Array.from({ length: shown }, (_, i) => bucketOf(fromMs + (at + i) * dayMs))
  const has_more = at + shown < days
  return Response.json({
    object: 'page',
    data,
    has_more,
    next_page: has_more ? `${at + shown}` : null,
  })
}

/** Of one day, by model. */
function sumsOf(served: ServedCalls, key: string, fromMs: number): Map<string, ModelSum> {
  const sums = new Map<string, ModelSum>()
  for (const { model, ...call } of served.of(key, fromMs, fromMs + dayMs)) {
    const sum = sums.get(model)
    if (sum === undefined) sums.set(model, { ...call, requests: 1 })
    else {
      sum.input += call.input
      sum.output += call.output
      sum.inputTokens += call.inputTokens
      sum.outputTokens += call.outputTokens
      sum.requests++
    }
  }
  return sums
}

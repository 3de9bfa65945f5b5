// Reports of what providers bill and of what was used, day by day and model by model, as they give them out: pages,
// limits of requests, and keys that they refuse. Knows no store and no money beyond the amounts in dollars.
import type { BillingAccess } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { HttpPort } from '../../contract/http.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'

/** One line of a report. */
interface ReportLine {
  /** Of a day, such as 2026-11-17. */
  day: string
  model: string
  /** In dollars, a decimal. */
  amount: string
  /** Tokens of that day and model, on the first of their lines; absent: not reported. */
  tokens?: number
}

/** Undefined: the result is not about tokens. */
interface UsageLine extends Pick<ReportLine, 'day' | 'model'> {
  tokens: number | undefined
}

interface Period {
  fromMs: number
  /** Not included. */
  untilMs: number
}

interface Listing<Line> {
  /** Of each request; `page`: the mark of the page before. */
  queries(period: Period): readonly string[]
  lines(body: Record<string, unknown>): Line[]
  /** The query of a page after this one; undefined: it was the last. */
  next(body: Record<string, unknown>): string | undefined
}

interface Report extends Listing<ReportLine> {
  url: string
  headers(key: string): Record<string, string>
  /** Of what was used, where the costs do not say it. */
  usage?: Listing<UsageLine>
}

const dayMs = 86_400_000
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const secondsOf = (ms: number): number => Math.floor(ms / 1000)

const listIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** Plain digits: a number of JavaScript may have an exponent. */
function decimalOf(value: unknown): string {
  const number = typeof value === 'string' ? value : String(value ?? 0)
  return /e/i.test(number) ? Number(number).toFixed(18) : number
}

/** Cents as a decimal of dollars: the point moves by two places. */
function fromCents(value: unknown): string {
  const [, sign = '', whole = '0', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimalOf(value)) ?? []
  const digits = whole.padStart(3, '0')
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`
}

const nextPage = ({ has_more, next_page }: Record<string, unknown>): string | undefined =>
  has_more === true && typeof next_page === 'string'
    ? `&page=${encodeURIComponent(next_page)}`
    : undefined

/** Undefined: none of them is a count. */
function tokensIn(...counts: readonly unknown[]): number | undefined {
  const known = counts.filter((count): count is number => Number.isSafeInteger(count))
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0)
}

const reports: Readonly<Record<BillingAccess['kind'], Report>> = {
  openai: {
    url: 'https://api.openai.com',
    queries: ({ fromMs, untilMs }) => [
      `/v1/organization/costs?start_time=${secondsOf(fromMs)}&end_time=${secondsOf(untilMs)}` +
        '&bucket_width=1d&group_by=line_item&limit=31',
    ],
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    lines: ({ data }) =>
      listIn(data).flatMap(({ start_time, results }) =>
        listIn(results).map(({ amount, line_item }) => ({
          day: dayOf(Number(start_time) * 1000),
          // 'gpt-5, input'
          model: String(line_item ?? '')
            .split(',')[0]!
            .trim(),
          amount: decimalOf(isObject(amount) ? amount['value'] : 0),
        })),
      ),
    next: nextPage,
    usage: {
      queries: ({ fromMs, untilMs }) =>
        ['completions', 'embeddings'].map(
          (of) =>
            `/v1/organization/usage/${of}?start_time=${secondsOf(fromMs)}` +
            `&end_time=${secondsOf(untilMs)}&bucket_width=1d&group_by=model&limit=31`,
        ),
      // Input has what was read from the cache.
      lines: ({ data }) =>
        listIn(data).flatMap(({ start_time, results }) =>
          listIn(results).map(({ model, input_tokens, output_tokens }) => ({
            day: dayOf(Number(start_time) * 1000),
            model: String(model ?? ''),
            tokens: tokensIn(input_tokens, output_tokens),
          })),
        ),
      next: nextPage,
    },
  },
  anthropic: {
    url: 'https://api.anthropic.com',
    queries: ({ fromMs, untilMs }) => [
      `/v1/organizations/cost_report?starting_at=${dayOf(fromMs)}T00:00:00Z` +
        `&ending_at=${dayOf(untilMs)}T00:00:00Z&group_by[]=description&limit=31`,
    ],
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    lines: ({ data }) =>
      listIn(data).flatMap(({ starting_at, results }) =>
        listIn(results).map(({ amount, model, description }) => ({
          day: String(starting_at).slice(0, 10),
          model: String(model ?? description ?? ''),
          amount: fromCents(amount),
        })),
      ),
    next: nextPage,
    usage: {
      queries: ({ fromMs, untilMs }) => [
        `/v1/organizations/usage_report/messages?starting_at=${dayOf(fromMs)}T00:00:00Z` +
          `&ending_at=${dayOf(untilMs)}T00:00:00Z&bucket_width=1d&group_by[]=model&limit=31`,
      ],
      lines: ({ data }) =>
        listIn(data).flatMap(({ starting_at, results }) =>
          listIn(results).map(({ model, cache_creation: written, ...counts }) => ({
            day: String(starting_at).slice(0, 10),
            model: String(model ?? ''),
            tokens: tokensIn(
              ...[counts['uncached_input_tokens'], counts['cache_read_input_tokens']],
              ...(isObject(written) ? Object.values(written) : []),
              counts['output_tokens'],
            ),
          })),
        ),
      next: nextPage,
    },
  },
  openrouter: {
    url: 'https://openrouter.ai',
    queries: ({ fromMs, untilMs }) =>
      Array.from(
        { length: (untilMs - fromMs) / dayMs },
        (_, i) => `/api/v1/activity?date=${dayOf(fromMs + i * dayMs)}`,
      ),
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    lines: ({ data }) =>
      listIn(data).map(({ date, model, usage, prompt_tokens, completion_tokens }) => {
        const tokens = tokensIn(prompt_tokens, completion_tokens)
        return {
          day: String(date).slice(0, 10),
          model: String(model ?? ''),
          amount: decimalOf(usage),
          ...(tokens !== undefined && { tokens }),
        }
      }),
    next: () => undefined,
  },
}

const connectMs = 10_000
const answerMs = 60_000
const maxBytes = 16 * 1024 * 1024
const maxDepth = 32
const maxPages = 1_000
/** Of one request that is asked to wait, and for how long each time. */
const maxTries = 5
const maxWaitMs = 10_000

/** All lines of the period, or why there are none. */
export async function readReport(
  http: HttpPort,
  { kind, key, url }: BillingAccess,
  period: Period,
): Promise<ReportLine[] | Refusal> {
  const report = reports[kind]
  const base = (url ?? report.url).replace(/\/+$/, '').replace(/(?:\/api)?\/v1$/, '')
  const headers = report.headers(key)
  const lines = await readAll(http, base, headers, report, period)
  if (lines instanceof Refusal) return lines
  const isReadable = lines.every(
    ({ day, amount }) => /^\d{4}-\d\d-\d\d$/.test(day) && /^-?\d+(?:\.\d+)?$/.test(amount),
  )
  if (!isReadable) return refuse('upstream_invalid_response', 'the report cannot be read')
  const { usage } = report
  if (usage === undefined || lines.length === 0) return lines
  const used: UsageLine[] = []
  for (const query of usage.queries(period)) {
    const some = await readAll(http, base, headers, { ...usage, queries: () => [query] }, period)
    // It only explains differences: costs are compared without it, too.
    if (!(some instanceof Refusal)) used.push(...some)
  }
  return withTokens(lines, used)
}

async function readAll<Line>(
  http: HttpPort,
  base: string,
  headers: Record<string, string>,
  listing: Listing<Line>,
  period: Period,
): Promise<Line[] | Refusal> {
  const lines: Line[] = []
  let pages = 0
  for (const query of listing.queries(period)) {
    let page: string | undefined = ''
    while (page !== undefined) {
      if (++pages > maxPages) return refuse('upstream_invalid_response', 'the report has no end')
      const body = await ask(http, base + query + page, headers)
      if (body instanceof Refusal) return body
      lines.push(...listing.lines(body))
      page = listing.next(body)
    }
  }
  return lines
}

const keyOf = ({ day, model }: Pick<ReportLine, 'day' | 'model'>): string => `${day} ${model}`

/** All tokens of a day and model stand on the first of its lines. */
function withTokens(lines: readonly ReportLine[], usage: readonly UsageLine[]): ReportLine[] {
  const sums = new Map<string, number>()
  for (const { tokens, ...line } of usage) {
    if (tokens !== undefined) sums.set(keyOf(line), (sums.get(keyOf(line)) ?? 0) + tokens)
  }
  return lines.map((line) => {
    const tokens = sums.get(keyOf(line))
    sums.delete(keyOf(line))
    return tokens === undefined ? line : { ...line, tokens }
  })
}

async function ask(
  http: HttpPort,
  url: string,
  headers: Record<string, string>,
): Promise<Record<string, unknown> | Refusal> {
  for (let tries = 1; ; tries++) {
    const sent = http.get(url, headers, { connectMs })
    const timer = setTimeout(() => sent.cancel(), answerMs)
    try {
      const answer = await sent.answer
      const text = await answer.text(maxBytes)
      if (answer.status === 429 && tries < maxTries) {
        const seconds = Number(answer.header('retry-after') ?? 1)
        await Bun.sleep(Math.min(maxWaitMs, Math.max(0, seconds * 1000) || 0))
        continue
      }
      if (answer.status !== 200) return refusalFor(answer.status)
      const parsed = parseJson(text ?? '', maxDepth)
      return 'value' in parsed && isObject(parsed.value)
        ? parsed.value
        : refuse('upstream_invalid_response', 'the report cannot be read')
    } catch (cause) {
      return refuse('upstream_unreachable', 'the report could not be read', { cause })
    } finally {
      clearTimeout(timer)
    }
  }
}

function refusalFor(status: number): Refusal {
  if (status === 401 || status === 403) {
    return refuse('upstream_permission_denied', 'the provider refuses the key for its reports')
  }
  if (status === 429) {
    return refuse('upstream_rate_limited', 'the provider limits how often its reports are read')
  }
  return refuse('upstream_error', `the provider answered ${status}`)
}

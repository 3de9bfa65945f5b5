// Small readers of what the gateway says: errors, streams, books. Also the one bounded wait.
import type { TestGateway } from './gateway.ts'

export interface ErrorFields {
  message: string
  type: string
  code: string
  param: string | null
  request_id: string
  upstream_request_id: string
}

export const requestIdShape = /^req_[0-9a-f]{32}$/

export const errorIn = (text: string): ErrorFields =>
  (JSON.parse(text) as { error: ErrorFields }).error

export const errorOf = async (response: Response): Promise<ErrorFields> =>
  errorIn(await response.text())

export const requestIdOf = (response: Response): string =>
  response.headers.get('x-gateway-request-id') ?? ''

export interface Chunk {
  model?: string
  choices?: { index: number; delta?: { content?: string | null }; finish_reason?: string | null }[]
  usage?: { prompt_tokens: number; completion_tokens: number } | null
  error?: ErrorFields
}

/** The data of every event of a stream, `[DONE]` included. */
export const dataLines = (text: string): string[] =>
  text
    .split(/\r?\n\r?\n/)
    .flatMap((event) => event.split(/\r?\n/))
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())

export const chunksIn = (text: string): Chunk[] =>
  dataLines(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Chunk)

export const contentOf = (chunks: readonly Chunk[]): string =>
  chunks.map((each) => each.choices?.[0]?.delta?.content ?? '').join('')

export interface Account {
  id: string
  name: string
  balance: string
  held: string
  available: string
}

export interface EntryRow {
  id: string
  kind: string
  amount: string
  request_id: string | null
  model: string | null
  unit: string | null
  quantity: number | null
  price_id: string | null
  estimated: boolean
  note: string | null
}

export interface RequestRow {
  request_id: string
  at: string
  account_id: string
  token_id: string
  interface: string
  model: string
  channel: string | null
  upstream_model: string | null
  upstream_request_id: string
  status: number
  error_code: string | null
  ending: string
  stream: boolean
  charge: string
  loss: string
  usage: {
    input_tokens: number
    output_tokens: number
    cache_read_tokens: number
    cache_write_tokens: number
  } | null
  usage_reported: unknown
  estimated: boolean
  price_id: string | null
  first_byte_ms: number | null
  total_ms: number
  attempts: { channel: string; ms: number; status?: number; error?: string }[]
  translation?: string
  translation_losses?: string[]
}

/** Asks again and again until there is a value; gives up loudly. */
export async function until<T>(
  what: string,
  poll: () => Promise<T | undefined> | T | undefined,
  limitMs = 240_000,
): Promise<T> {
  const untilMs = performance.now() + limitMs
  for (;;) {
    const found = await poll()
    if (found !== undefined) return found
    if (performance.now() > untilMs) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
    await Bun.sleep(20)
  }
}

/** Asks again until the answer is as wanted; the limit of the case ends the waiting. */
export async function untilTrue<T>(
  read: () => Promise<T>,
  isWanted: (answer: T) => boolean,
): Promise<T> {
  for (;;) {
    const answer = await read()
    if (isWanted(answer)) return answer
    await Bun.sleep(20)
  }
}

export async function accountOf(gateway: TestGateway, name = 'acme'): Promise<Account> {
  return (await gateway.admin('GET', `/accounts/${name}`)).body as Account
}

/** All pages of a list. */
export async function listAll<T>(gateway: TestGateway, path: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const join = path.includes('?') ? '&' : '?'
    const page: { items: T[]; next_cursor: string | null } = (
      await gateway.admin('GET', cursor === null ? path : `${path}${join}cursor=${cursor}`)
    ).body
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

export const ledgerOf = (gateway: TestGateway, name = 'acme'): Promise<EntryRow[]> =>
  listAll<EntryRow>(gateway, `/accounts/${name}/ledger?limit=500`)

/** The log row of a request; rows without money are written behind the answer. */
export const rowOf = (gateway: TestGateway, id: string): Promise<RequestRow> =>
  until(`the row of ${id}`, async () => {
    const { status, body } = await gateway.admin('GET', `/requests/${id}`)
    return status === 200 ? (body as RequestRow) : undefined
  })

/** The charge entry of a request, if there is one. */
export async function chargeOf(gateway: TestGateway, id: string): Promise<EntryRow | undefined> {
  const { body } = await gateway.admin('GET', `/explain/${id}`)
  const { entries = [] } = body as { entries?: EntryRow[] }
  return entries.find((entry) => entry.kind === 'charge' && entry.request_id === id)
}

/** Decimal text to whole nano-units. */
export function nanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const size = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
  return amount.startsWith('-') ? -size : size
}

// The newest requests as the sandbox received them, for tests that compare what the gateway sends.
// Bounded by count and by bytes; credentials are left out before anything is kept.
import type { Protocol } from '../../src/contract/catalog.ts'

/** On the wire as it stands here. */
export interface AskedRequest {
  /** Counts from 1; the next request has the next number. */
  number: number
  /** That of the call log. */
  id: string
  protocol: Protocol
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  /** As received; null when it was larger than everything that is kept. */
  body: string | null
}

interface Kept extends Omit<AskedRequest, 'body'> {
  raw: Uint8Array | null
}

const maxRequests = 200
const maxBytes = 16 * 1024 * 1024

const credential = /authorization|api-?key|token|secret|cookie/i
const keyParameter = 'key'

export class AskedRequests {
  #kept: Kept[] = []
  #bytes = 0
  #number = 0

  /** Decoded when it is read: keeping costs no copy of the body. */
  keep(id: string, protocol: Protocol, request: Request, raw: Uint8Array): void {
    const { method, headers, url } = request
    const body = raw.length > maxBytes ? null : raw
    const number = ++this.#number
    const kept = { number, id, protocol, method, path: pathOf(url), headers: plain(headers) }
    this.#kept.push({ ...kept, raw: body })
    this.#bytes += body?.length ?? 0
    while (this.#kept.length > maxRequests || this.#bytes > maxBytes) {
      this.#bytes -= this.#kept.shift()?.raw?.length ?? 0
    }
  }

  /** Those with a higher number, oldest first. */
  read(since = 0): AskedRequest[] {
    const decoder = new TextDecoder()
    return this.#kept
      .filter(({ number }) => number > since)
      .map(({ raw, ...kept }) => ({ ...kept, body: raw && decoder.decode(raw) }))
  }
}

function pathOf(url: string): string {
  const { pathname, search, searchParams } = new URL(url)
  if (!searchParams.has(keyParameter)) return pathname + search
  searchParams.delete(keyParameter)
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`
}

function plain(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {}
  headers.forEach((value, name) => {
    if (!credential.test(name)) kept[name] = value
  })
  return kept
}

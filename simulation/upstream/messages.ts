// Requests and replies on the wire of the simulated upstream.
import type { SimContext } from '../world/context.ts'
import type { Upstream } from './upstream.ts'

export interface WireRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  body: Readonly<Record<string, unknown>>
  /** The process that has sent it. */
  from: string
}

export interface WireReply {
  status: number
  body: string
  headers?: Readonly<Record<string, string>>
  /** For a stream. */
  chunks?: readonly string[]
  /** Called with what a gateway has read of it. */
  onRead?: (text: string) => void
}

export interface UpstreamWire {
  context: SimContext
  upstream: Upstream
}

export const json = (body: unknown, status = 200): WireReply => ({
  status,
  body: JSON.stringify(body),
})

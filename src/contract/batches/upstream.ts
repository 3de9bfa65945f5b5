// Lines of a batch as they go to the batch API of an upstream, and what comes back.

/** What the batch of an upstream is made from. */
export interface BatchSource {
  /** At most 64 plain characters, which the upstream reports back. */
  marker: string
  /** A line for each request, as `line` writes it. */
  lines: string
  /** Of what was uploaded, where that comes first. */
  fileId?: string
}

/** The result of one line: an answer as its call would have got it, a long one as bytes, or why there is none. */
export type BatchResult = { id: string } & (
  | { status: number; body: string | Uint8Array<ArrayBuffer>; upstreamRequestId?: string }
  | { unrun: 'expired' | 'cancelled' | 'failed'; message: string }
)

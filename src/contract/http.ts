// The HTTP client that providers get, and what they may do with an answer.

/** Takes a body as it arrives. It gets `end` or `fail` once, unless the answer was released. */
export interface BodyReader {
  /** False: nothing more for now; the answer is to be resumed. */
  take(bytes: Uint8Array): boolean
  /** The regular end. */
  end(): void
  /** The connection broke, or the answer was cancelled. */
  fail(error: Error): void
}

/** An HTTP response with its headers read. */
export interface HttpAnswer {
  readonly status: number
  header(name: string): string | undefined
  /** Undefined when larger than the limit; rejects when the connection breaks. */
  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  /** The same; more than `longBytes` as they came, and no promise for what is all there. */
  text(
    maxBytes: number,
    progress: { touch(): void },
    longBytes: number,
  ): string | Uint8Array<ArrayBuffer> | Promise<string | Uint8Array<ArrayBuffer> | undefined>
  /** The next bytes; undefined at the regular end; rejects when the connection breaks. */
  read(): Promise<Uint8Array | undefined>
  /** Gives the reader the rest as it arrives, without a promise for each piece. */
  pipe(reader: BodyReader): void
  /** The reader of a pipe takes bytes again. */
  resume(): void
  cancel(): void
  /** All relevant data has arrived; the connection may be reused. */
  release(): void
  /** The body is a stream and may be read slowly. */
  expectTrickle(): void
}

/** The HTTP client: no redirects, no compression, no retries. */
export interface HttpPort {
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
  get(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
  delete(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
}

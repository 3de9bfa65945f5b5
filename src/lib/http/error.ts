// The error of a failed HTTP call. Knows the kinds of failure, not how a caller handles them.

export type HttpErrorKind = 'unreachable' | 'tls' | 'timeout' | 'broken' | 'invalid' | 'cancelled'

export class HttpError extends Error {
  readonly kind: HttpErrorKind

  constructor(kind: HttpErrorKind, message: string) {
    super(message)
    this.name = 'HttpError'
    this.kind = kind
  }
}

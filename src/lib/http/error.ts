// The one way an HTTP call fails. It knows the kinds of failure, not what a caller does about them.

export type HttpErrorKind = 'unreachable' | 'tls' | 'timeout' | 'broken' | 'invalid' | 'cancelled'

export class HttpError extends Error {
  readonly kind: HttpErrorKind

  constructor(kind: HttpErrorKind, message: string) {
    super(message)
    this.name = 'HttpError'
    this.kind = kind
  }
}

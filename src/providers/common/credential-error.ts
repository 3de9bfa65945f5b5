// Nothing was sent, because the account of a channel gave no token or signature. Its message is for callers.
import { HttpError } from '../../lib/http/error.ts'

export class CredentialError extends HttpError {
  constructor(message: string) {
    super('unreachable', message)
  }
}

// The body of a request as it goes out.
import type { Endpoint } from './endpoints.ts'

export const bodyWith = (endpoint: Endpoint, model: string, body: unknown): object =>
  endpoint.isModelInPath
    ? (body as object)
    : { [endpoint.modelField ?? 'model']: model, ...(body as object) }

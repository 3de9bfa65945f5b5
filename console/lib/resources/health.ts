// The answer of GET /health.
import type { Health } from '../../../src/admin/system/system-schema.ts'

export type { Health }
export type LoggedError = Health['recent_errors'][number]

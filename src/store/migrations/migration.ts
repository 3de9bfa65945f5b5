// One step from a schema version to the next.
import type { Dialect } from '../schema.ts'

export interface Migration {
  version: number
  up(dialect: Dialect): readonly string[]
}

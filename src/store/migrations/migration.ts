// One step from a schema to the next.
import type { Dialect } from '../schema.ts'

export interface Migration {
  version: number
  up(dialect: Dialect): readonly string[]
}

// One step from a schema version to the next.
import type { Dialect } from '../schema.ts'

export interface Migration {
  version: number
  /** What a gateway of the former version writes would be wrong afterwards: none may run. */
  isAlone?: true
  up(dialect: Dialect): readonly string[]
}

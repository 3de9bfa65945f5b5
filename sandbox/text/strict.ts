// What makers refuse and the sandbox otherwise overlooks: helpers for the rules of each protocol.
import type { Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'

/** A rule gives the fault, or nothing. */
type Rule = (fields: Json) => Fault | undefined

/** The first rule that is broken. */
export function firstFault(fields: Json, rules: readonly Rule[]): Fault | undefined {
  for (const rule of rules) {
    const fault = rule(fields)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** `names` are separated by blanks. */
export const fieldSet = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/))

/** The first field that the protocol does not have; null counts as absent. */
export const unknownField = (fields: Json, known: ReadonlySet<string>): string | undefined =>
  Object.keys(fields).find((name) => !known.has(name) && fields[name] != null)

export const broken = (param: string, message: string): Fault => ({ status: 400, message, param })

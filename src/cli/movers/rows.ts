// Rows of another product's tables, and their values in whichever form its database gives them.
import { isObject } from '../../lib/json/parse.ts'

export type Row = Readonly<Record<string, unknown>>
/** A table that is not there has no entry. */
export type Tables = ReadonlyMap<string, readonly Row[]>

export const textIn = (row: Row, name: string): string => {
  const value = row[name]
  return typeof value === 'string' ? value : ''
}

export const numberIn = (row: Row, name: string): number | undefined => {
  const value = row[name]
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** True in any of the forms of these databases. */
export const isOn = (row: Row, name: string): boolean =>
  [true, 1, '1', 't', 'true'].includes(row[name] as string)

/** An object that may be kept as text; empty if it is none. */
export function objectOf(value: unknown): Row {
  if (isObject(value)) return value
  if (typeof value !== 'string' || value.trim() === '') return {}
  try {
    const parsed: unknown = JSON.parse(value)
    return isObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

export const listIn = (row: Row, name: string): string[] => {
  const value = row[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

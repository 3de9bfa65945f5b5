// Typed values in JSON from outside; undefined where a value is absent or of another type.
import { isObject } from './parse.ts'

type Json = Readonly<Record<string, unknown>>

export const textIn = (holder: Json, name: string): string | undefined => {
  const value = holder[name]
  return typeof value === 'string' ? value : undefined
}

export const numberIn = (holder: Json, name: string): number | undefined => {
  const value = holder[name]
  return typeof value === 'number' ? value : undefined
}

export const flagIn = (holder: Json, name: string): boolean | undefined => {
  const value = holder[name]
  return typeof value === 'boolean' ? value : undefined
}

export const objectIn = (holder: Json, name: string): Json | undefined => {
  const value = holder[name]
  return isObject(value) ? value : undefined
}

/** The objects of a list; empty for anything else. */
export const objectsIn = (holder: Json, name: string): readonly Json[] => {
  const value = holder[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

export const textsIn = (holder: Json, name: string): readonly string[] => {
  const value = holder[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

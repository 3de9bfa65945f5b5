// Lists in which every value must be an object.
import { isObject } from './parse.ts'

type Json = Readonly<Record<string, unknown>>

/** The objects of a list, each as `change` returns it; the same list when all are the same. */
export function eachObject(list: unknown, change: (value: Json, place: number) => Json): unknown {
  if (!Array.isArray(list)) return []
  let isSame = true
  const changed: Json[] = []
  for (const value of list) {
    const now = isObject(value) ? change(value, changed.length) : undefined
    if (now !== undefined) changed.push(now)
    if (now !== value) isSame = false
  }
  return isSame ? list : changed
}

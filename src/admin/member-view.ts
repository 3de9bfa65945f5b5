// What members may read of an answer: everything about their own account, nothing about the operator's
// side (channels, upstream names, ids and addresses, attempts, losses, other accounts). Schemas mark
// the fields that are for staff only.
import { z } from 'zod'
import type { Marks } from '../contract/answers/fields.ts'

/** Steps of a timeline whose note a member may read; others tell what an upstream answered. */
const plainSteps: readonly unknown[] = ['cancel_requested', 'ended']

export function staffFieldsOf(schema: z.ZodType | undefined): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject)) return new Set()
  const fields = Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>)
  const marked = fields.filter(([, field]) => (field.meta() as Marks | undefined)?.staffOnly)
  return new Set(marked.map(([name]) => name))
}

/** One thing without what only staff may read. What lies deeper is the member's own. */
function memberRow(row: object, staffFields: ReadonlySet<string>): object {
  const kept = Object.entries(row).filter(([name]) => !staffFields.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'timeline' && Array.isArray(value) ? value.map(memberStep) : value,
    ]),
  )
}

const memberStep = (step: { kind?: unknown }): object =>
  plainSteps.includes(step.kind) ? step : { ...step, note: null }

/** The same of a whole answer: one thing, or a list. */
export function memberView(answer: object, schema: z.ZodType | undefined): object {
  const view = memberRow(answer, staffFieldsOf(schema))
  const { items } = answer as { items?: unknown }
  if (!Array.isArray(items)) return view
  const list = schema instanceof z.ZodObject ? schema.shape['items'] : undefined
  const hidden = staffFieldsOf(list instanceof z.ZodArray ? (list.element as z.ZodType) : undefined)
  return { ...view, items: items.map((each) => memberRow(each as object, hidden)) }
}

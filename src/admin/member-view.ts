// What members may read of an answer: everything about their own account, nothing about the operator's
// side (channels, upstream names, ids and addresses, attempts, losses, other accounts). Schemas mark
// the fields that are for staff only, at any depth.
import { z } from 'zod'
import type { Marks } from '../contract/answers/fields.ts'
import { withoutCosts } from '../contract/cost-fields.ts'

/** Steps of a timeline whose note a member may read; others tell what an upstream answered. */
const plainSteps: readonly unknown[] = ['cancel_requested', 'ended']

export const isStaffOnly = (field: z.ZodType): boolean =>
  (field.meta() as Marks | undefined)?.staffOnly === true

/** The answer without what only staff may read: one thing, or a list. */
export const memberView = (answer: object, schema: z.ZodType | undefined): object =>
  withoutStaffFields(answer, schema) as object

function withoutStaffFields(value: unknown, schema: z.ZodType | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  const plain = unwrapped(schema)
  if (Array.isArray(value)) {
    const element = plain instanceof z.ZodArray ? (plain.element as z.ZodType) : undefined
    return element === undefined ? value : value.map((each) => withoutStaffFields(each, element))
  }
  if (!(plain instanceof z.ZodObject)) return value
  const fields = plain.shape as Readonly<Record<string, z.ZodType | undefined>>
  const shown = Object.entries(value).flatMap(([name, part]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined && isStaffOnly(field)) return []
    const view = views[name] ?? withoutStaffFields
    return [[name, view(part, field)]]
  })
  return Object.fromEntries(shown)
}

/** What an optional or nullable field holds. */
function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  const { innerType } = (schema?.def ?? {}) as { innerType?: z.ZodType }
  return innerType === undefined ? schema : unwrapped(innerType)
}

/** Fields that are shown in another form, wherever they are. */
const views: Readonly<
  Record<string, ((value: unknown, schema?: z.ZodType) => unknown) | undefined>
> = {
  __proto__: null as never,
  timeline: (steps) => memberSteps(steps),
  usage_reported: withoutCosts,
}

const memberSteps = (steps: unknown): unknown =>
  Array.isArray(steps) ? steps.map(memberStep) : steps

const memberStep = (step: { kind?: unknown }): object =>
  plainSteps.includes(step.kind) ? step : { ...step, note: null }

// What members may read of an answer: everything about their own account, nothing about the operator's
// side (channels, upstream names, ids and addresses, attempts, losses, other accounts). One place for all
// routes and exports, so that a new field of a row is decided here.

/** Fields of a thing, or of the things in a list, that only staff may read. */
const staffFields: ReadonlySet<string> = new Set([
  'channel',
  'protocol',
  'protocols',
  'upstream_model',
  'upstream_id',
  'upstream_request_id',
  'attempts',
  // The upstream's own download addresses; `files` has the gateway's.
  'media',
  'loss',
  // Names other accounts.
  'own_prices',
])

/** Steps of a timeline whose note a member may read; others tell what an upstream answered. */
const plainSteps: readonly unknown[] = ['cancel_asked', 'ended']

export const isStaffField = (name: string): boolean => staffFields.has(name)

interface Step {
  kind?: unknown
}

/** One thing without what only staff may read. What lies deeper is the member's own. */
export function memberRow(row: object): object {
  const kept = Object.entries(row).filter(([name]) => !staffFields.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'timeline' && Array.isArray(value) ? value.map(memberStep) : value,
    ]),
  )
}

const memberStep = (step: Step): object =>
  plainSteps.includes(step.kind) ? step : { ...step, note: null }

/** The same of a whole answer: one thing, or a list. */
export function memberView(answer: object): object {
  const { items } = answer as { items?: unknown }
  const view = memberRow(answer)
  return Array.isArray(items)
    ? { ...view, items: items.map((each) => memberRow(each as object)) }
    : view
}

// What channels promise of data, and what tokens and accounts require of it. The gateway decides; this only shows
// beforehand which channels qualify.

export interface DataTerms {
  training?: 'no' | 'opt_out' | 'unpaid' | 'yes' | undefined
  retention_days?: number | undefined
  region?: string | undefined
}

export type DataRequirement = Omit<DataTerms, 'training'> & { training?: 'no' | undefined }

/** What is not promised is not fulfilled. */
export function qualifies(data: DataTerms | null, required: DataRequirement | null): boolean {
  if (required === null) return true
  if (required.training !== undefined && data?.training !== 'no') return false
  if (required.region !== undefined && data?.region !== required.region) return false
  const { retention_days: maxDays } = required
  return maxDays === undefined || (data?.retention_days ?? Number.POSITIVE_INFINITY) <= maxDays
}

/** `training: no, region: eu` */
export const dataText = (terms: DataTerms | null): string =>
  Object.entries(terms ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')

/** Null where nothing is required. */
export function requirementFrom(draft: DataRequirement): DataRequirement | null {
  const said = Object.entries(draft).filter(([, value]) => value !== undefined && value !== '')
  return said.length === 0 ? null : Object.fromEntries(said)
}

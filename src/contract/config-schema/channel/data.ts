// What an upstream account promises of the data that it is sent, and what a token or account requires of it.
// What is not promised is not fulfilled.
import { z } from 'zod'
import type { DataRequirement, DataTerms } from '../../catalog.ts'
import { region, strict } from '../fields.ts'
import { trainingModes } from '../preset.ts'

const maxDays = 36_500

const days = (description: string) => z.int().min(0).max(maxDays).meta({ description }).optional()

export const dataTerms = strict({
  training: z
    .enum(trainingModes)
    .meta({ description: 'Whether models are trained with requests.' })
    .optional(),
  retention_days: days('Days for which requests are kept; 0: not at all.'),
  region: region('Where requests are processed.').optional(),
}).meta({ description: 'What this upstream account promises of the data that it is sent.' })

export const dataRequirement = strict({
  training: z
    .literal('no', { error: 'must be no' })
    .meta({ description: 'Models are not trained with requests.' })
    .optional(),
  retention_days: days('Requests are kept for so many days at most.'),
  region: region('Requests are processed there.').optional(),
}).meta({ description: 'What a channel must promise of data to be asked. Left out, nothing.' })

type Declared = z.infer<typeof dataTerms>

/** Undefined when it says nothing. */
export function dataFrom(declared: Declared | null | undefined): DataTerms | undefined {
  const { training, retention_days: retentionDays, region: place } = declared ?? {}
  const terms: DataTerms = {
    ...(training !== undefined && { training }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(place !== undefined && { region: place }),
  }
  return Object.keys(terms).length === 0 ? undefined : terms
}

export const requirementFrom = (
  declared: z.infer<typeof dataRequirement> | null | undefined,
): DataRequirement | undefined => dataFrom(declared) as DataRequirement | undefined

/** The same as it is declared. */
export const dataView = <Terms extends DataTerms>(terms: Terms | undefined) =>
  terms === undefined
    ? null
    : {
        ...(terms.training !== undefined && { training: terms.training as Terms['training'] }),
        ...(terms.retentionDays !== undefined && { retention_days: terms.retentionDays }),
        ...(terms.region !== undefined && { region: terms.region }),
      }

/** Whether what is promised fulfils what is required. */
export function fulfils(data: DataTerms | undefined, required: DataRequirement): boolean {
  const { training, retentionDays, region: place } = data ?? {}
  if (required.training !== undefined && training !== 'no') return false
  if (required.region !== undefined && place !== required.region) return false
  return (
    required.retentionDays === undefined || (retentionDays ?? Infinity) <= required.retentionDays
  )
}

// What upstreams take, as the admin API shows it.
import type { z } from 'zod'
import type { cost, costFactors, costImport } from '../../../src/admin/catalog/price-schema.ts'

export type Cost = z.infer<typeof cost>
export type CostFactors = z.infer<typeof costFactors>
export type CostImport = z.infer<typeof costImport>

// Costs from a YAML text in the words of gateway.yaml. Knows no store and no cost that is there.
import { z } from 'zod'
import {
  type CostDeclaration,
  costDeclaration,
  maxListed,
} from '../../contract/config-schema/index.ts'
import { readListed } from './read-list.ts'

const importedFile = z.strictObject({ costs: z.array(costDeclaration).min(1).max(maxListed) })

export function readCosts(text: string): { costs: CostDeclaration[] } | { problem: string } {
  const read = readListed(text, 'costs', importedFile)
  return 'problem' in read ? read : { costs: read.value.costs }
}

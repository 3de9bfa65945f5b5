// The texts that can be imported, and what reads each. All of it runs in a thread of its own.
import { readYamlPrices } from '../../billing/prices/price-list.ts'
import { readCsvPrices } from '../../billing/prices/price-table.ts'
import { convertText, type SourceFile } from '../../contract/price-sources/convert-text.ts'
import { readChannels } from './read-channels.ts'
import { readCosts } from './read-costs.ts'

export const importReaders = {
  channels: readChannels,
  costs: readCosts,
  yaml: readYamlPrices,
  csv: readCsvPrices,
  source: (text: string) => convertText(JSON.parse(text) as SourceFile),
} as const

export type ImportKind = keyof typeof importReaders
export type ReadAs<K extends ImportKind> = ReturnType<(typeof importReaders)[K]>

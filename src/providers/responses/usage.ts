// Usage of the responses style to plain usage. The input includes cached and written tokens.
import type { Reported } from '../../contract/provider.ts'
import { plainUsage } from '../text/usage.ts'

export const readUsage = (raw: unknown): Reported => plainUsage(raw)

// Usage of the responses style to plain usage. Cached and written tokens lie inside the input.
import type { Reported } from '../../contract/provider.ts'
import { plainUsage } from '../text/usage.ts'

export const readUsage = (raw: unknown): Reported => plainUsage(raw)

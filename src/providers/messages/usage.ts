// Usage of the messages style to plain usage. `input_tokens` excludes cached and written tokens:
// the whole input is the sum of all three.
import type { Reported } from '../../contract/provider.ts'
import { plainUsage } from '../text/usage.ts'

export const readUsage = (raw: unknown): Reported => plainUsage(raw, true)

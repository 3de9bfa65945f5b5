// Usage of the responses style, as it is charged.
import { readUsage as read } from '../../styles/responses/usage.ts'
import { reportedBy } from '../text/style.ts'

export const readUsage = reportedBy(read)

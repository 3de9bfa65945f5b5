// Usage of the chat style, as it is charged.
import { readUsage as read } from '../../styles/chat/usage.ts'
import { reportedBy } from '../text/style.ts'

export const readUsage = reportedBy(read)

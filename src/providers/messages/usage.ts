// Usage of the messages style, as it is charged.
import { readUsage as read } from '../../styles/messages/usage.ts'
import { servedIn } from '../common/served-as.ts'
import { reportedBy } from '../text/style.ts'

export const readUsage = reportedBy(read, servedIn)

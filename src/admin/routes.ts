// Every call of the admin API. Where two paths fit, the first one in this list is taken.
import type { AdminRoute } from './route.ts'
import { callbackRoutes } from './tasks/callbacks.ts'
import { taskActionRoutes } from './tasks/task-actions.ts'
import { taskSummaryRoutes } from './tasks/task-summary.ts'
import { taskRoutes } from './tasks/tasks.ts'

export const adminRoutes: readonly AdminRoute[] = [
  ...taskSummaryRoutes,
  ...taskRoutes,
  ...taskActionRoutes,
  ...callbackRoutes,
]

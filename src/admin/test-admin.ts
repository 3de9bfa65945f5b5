// The whole admin API as tests serve it: all routes in one router.
import { admin as adminOf } from './index.ts'
import type { AdminApp, AdminDeps } from './route.ts'
import { adminRoutes } from './routes.ts'

export const admin = (deps: AdminDeps): AdminApp => adminOf(deps, adminRoutes)

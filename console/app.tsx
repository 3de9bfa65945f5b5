// Sign-in, or the shell with the page of the current address.
import { Box } from '@mantine/core'
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Brand } from './components/brand.tsx'
import { Forbidden, NotFound } from './components/empty-state.tsx'
import { ErrorBoundary } from './components/error-boundary.tsx'
import { OutageBanner } from './components/outage-banner.tsx'
import { ErrorAlert } from './components/page.tsx'
import { Waiting } from './components/waiting.tsx'
import { NoAnswer } from './lib/api.ts'
import { loadWithRetry } from './lib/loading/load.ts'
import { useLocation } from './lib/router.tsx'
import { hasRole, SessionProvider, useSessionQuery } from './lib/session.ts'
import { type PageName, pages } from './navigation.ts'
import { Invitation } from './pages/invitation.tsx'
import { SetUp, SignIn } from './pages/sign-in.tsx'
import { Shell } from './shell.tsx'

const loaders: Readonly<Record<PageName, () => Promise<{ default: ComponentType }>>> = {
  overview: () => import('./pages/overview/index.tsx'),
  tasks: () => import('./pages/tasks/index.tsx'),
  requests: () => import('./pages/requests/index.tsx'),
  alerts: () => import('./pages/alerts/index.tsx'),
  channels: () => import('./pages/channels/index.tsx'),
  models: () => import('./pages/models/index.tsx'),
  prices: () => import('./pages/prices/index.tsx'),
  tokens: () => import('./pages/tokens/index.tsx'),
  accounts: () => import('./pages/accounts/index.tsx'),
  bills: () => import('./pages/bills/index.tsx'),
  month: () => import('./pages/month/index.tsx'),
  codes: () => import('./pages/codes/index.tsx'),
  usage: () => import('./pages/usage/index.tsx'),
  margins: () => import('./pages/margins/index.tsx'),
  costs: () => import('./pages/costs/index.tsx'),
  playground: () => import('./pages/playground/index.tsx'),
  settings: () => import('./pages/settings/index.tsx'),
  health: () => import('./pages/health/index.tsx'),
  audit: () => import('./pages/audit/index.tsx'),
  people: () => import('./pages/people/index.tsx'),
}

const lazyPages = new Map(
  pages.map(({ name }) => [name, lazy(() => loadWithRetry(loaders[name]))] as const),
)

function pageAt(path: string) {
  const exact = pages.find((each) => each.path === path)
  return exact ?? pages.find((each) => each.path !== '/' && path.startsWith(`${each.path}/`))
}

// Its code is loaded while the session is asked for.
const firstPage = pageAt(location.pathname.replace(/^\/console(?=\/|$)/, '') || '/')
if (firstPage !== undefined) void loaders[firstPage.name]().catch(() => {})

export function App() {
  const { path } = useLocation()
  const { data: session, isLoading, error } = useSessionQuery()
  if (path.startsWith('/set-up')) return <SetUp />
  if (path.startsWith('/invitation')) return <Invitation />
  if (isLoading) return <Unanswered />
  if (session === undefined) {
    return (
      <Unanswered>
        {/* The banner has said it. */}
        {error instanceof NoAnswer ? undefined : <ErrorAlert error={error} />}
      </Unanswered>
    )
  }
  if (session === null) return <SignIn />
  return (
    <SessionProvider value={session}>
      <Shell>
        <ErrorBoundary key={path}>
          <Suspense fallback={<Waiting />}>
            <CurrentPage path={path} mayOpen={(roles) => hasRole(session, roles)} />
          </Suspense>
        </ErrorBoundary>
      </Shell>
    </SessionProvider>
  )
}

/** Before it is known who is signed in. */
const Unanswered = ({ children }: { children?: ReactNode }) => (
  <Box component="main" p="md" maw={720} mx="auto">
    <Box mb="md">
      <Brand />
    </Box>
    <OutageBanner hasData={false} />
    {children ?? <Waiting />}
  </Box>
)

function CurrentPage({
  path,
  mayOpen,
}: {
  path: string
  mayOpen: (roles: (typeof pages)[number]['roles']) => boolean
}) {
  const page = pageAt(path)
  if (page === undefined) return <NotFound path={path} />
  if (!mayOpen(page.roles)) return <Forbidden />
  const Current = lazyPages.get(page.name)!
  return <Current />
}

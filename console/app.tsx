// Signing in, or the shell with the page that the address names.
import { Center, Loader } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { usePlace } from './lib/router.tsx'
import { maySee, SessionProvider, useSessionQuery } from './lib/session.ts'
import { pages } from './pages/index.ts'
import { SetUp, SignIn } from './pages/sign-in.tsx'
import { Boundary } from './parts/boundary.tsx'
import { NotAllowed } from './parts/empty-state.tsx'
import { ErrorNote } from './parts/page.tsx'
import { Shell } from './shell.tsx'

/** A gateway that restarts is waited for: what could not be loaded once would be broken for good. */
async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < mostTries; tries++) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, betweenTriesMs))
    }
  }
  return load()
}

const mostTries = 30
const betweenTriesMs = 1_000
const loaded = new Map(pages.map((page) => [page.path, lazy(() => patiently(page.load))] as const))

const waiting = (
  <Center h="60vh">
    <Loader />
  </Center>
)

export function App() {
  const { path } = usePlace()
  const { data: session, isLoading, error } = useSessionQuery()
  if (path.startsWith('/set-up')) return <SetUp />
  if (isLoading) return waiting
  if (session === undefined) {
    return (
      <Center h="100vh">
        <ErrorNote error={error} />
      </Center>
    )
  }
  if (session === null) return <SignIn />
  return (
    <SessionProvider value={session}>
      <Shell>
        <Boundary key={path}>
          <Suspense fallback={waiting}>
            <CurrentPage path={path} mayOpen={(roles) => maySee(session, roles)} />
          </Suspense>
        </Boundary>
      </Shell>
    </SessionProvider>
  )
}

function CurrentPage({
  path,
  mayOpen,
}: {
  path: string
  mayOpen: (roles: (typeof pages)[number]['roles']) => boolean
}) {
  const page = useMemo(() => {
    const exact = pages.find((each) => each.path === path)
    return exact ?? pages.find((each) => each.path !== '/' && path.startsWith(`${each.path}/`))
  }, [path])
  const shown = page ?? pages.find(({ roles }) => mayOpen(roles))
  if (shown === undefined || !mayOpen(shown.roles)) return <NotAllowed />
  const Shown = loaded.get(shown.path)!
  return <Shown />
}

// The pages of the console that are visited: all of its menu, what a customer sees, and lists by filters,
// by search and with a row open. Paths are below /console.

/** As in the menu; a test compares them with console/navigation.ts. */
export const menuPaths: readonly string[] = [
  '/',
  '/tasks',
  '/requests',
  '/alerts',
  '/channels',
  '/models',
  '/prices',
  '/accounts',
  '/bills',
  '/month',
  '/codes',
  '/usage',
  '/margins',
  '/costs',
  '/tokens',
  '/playground',
  '/settings',
  '/health',
  '/audit-log',
  '/people',
]

/** What a member of one account opens. */
export const memberPaths: readonly string[] = [
  '/',
  '/tasks',
  '/requests',
  '/tokens',
  '/bills',
  '/usage',
]

interface Known {
  requestId: string | undefined
  upstreamRequestId: string | undefined
  taskId: string | undefined
  tokenId: string | undefined
  month: string
}

export const detailPaths = (known: Known): string[] => [
  '/?range=month',
  `/requests?open=${known.requestId}`,
  `/requests?id=${known.upstreamRequestId}`,
  '/requests?account=team-3',
  '/requests?status=502',
  '/requests?model=rare-1',
  '/requests?error_code=nothing_like_it',
  `/tasks?open=${known.taskId}`,
  '/tasks?view=gallery',
  '/tasks?state=running',
  '/tasks?state=cancelled&account=team-3',
  `/tokens?open=${known.tokenId}`,
  '/accounts?open=team-3',
  '/accounts?search=team-1',
  '/bills?account=team-3',
  `/bills?open=${known.month}%20team-3`,
  '/bills?tab=reconcile',
  '/usage?group=token&compare=1',
]

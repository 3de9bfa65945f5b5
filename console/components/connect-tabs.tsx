// Code that calls the gateway, with models that the token can call.

import type { Page } from '../lib/api.ts'
import { namesFor, type OfferedModel, snippets } from '../lib/client-snippets.ts'
import { useSession } from '../lib/session.ts'
import { useResource } from '../lib/use-resource.ts'
import { CodeTabs } from './code-tabs.tsx'

const maxListed = 500

export function ConnectTabs({
  secret,
  models = ['*'],
}: {
  /** While it is on the screen. */
  secret?: string
  /** Names and prefixes that the token may call. */
  models?: readonly string[]
}) {
  const { public_url } = useSession()
  const { data } = useResource<Page<OfferedModel>>('/models', { query: { limit: maxListed } })
  // Tabs do not change under a hand: they come when the names are known.
  if (data === undefined) return null
  return <CodeTabs snippets={snippets(public_url, secret, namesFor(data.items, models))} />
}

// An account by its display name, with the name that calls and settings use beside it.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { api, type Page } from '../../lib/api.ts'
import { isStaff, useSession } from '../../lib/session.ts'

export const AccountName = ({
  name,
  displayName,
}: {
  name: string
  displayName: string | null | undefined
}) => (
  <Text size="sm" fw={500} truncate title={displayName == null ? name : `${name} · ${displayName}`}>
    {displayName ?? name}
    {displayName != null && (
      <Text span size="sm" fw={400} c="dimmed">
        {' '}
        {name}
      </Text>
    )}
  </Text>
)

const perPage = 500
const staleMs = 60_000

/** For lists that know accounts by their name alone. */
export function useDisplayNames(): (account: string) => string | undefined {
  const { data } = useQuery({
    queryKey: ['display-names'],
    queryFn: async () => {
      const names = new Map<string, string>()
      let cursor: string | undefined
      do {
        const page: Page<Account> = await api('GET', '/accounts', {
          query: { limit: perPage, cursor },
        })
        for (const { name, display_name } of page.items) {
          if (display_name !== null) names.set(name, display_name)
        }
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return names
    },
    enabled: isStaff(useSession()),
    staleTime: staleMs,
  })
  return (account) => data?.get(account)
}

// Open alerts of the gateway, asked for once for the menu, the title and the overview; and the title of the
// document, which has their number.
import { useEffect } from 'react'
import type { Alert } from '../../src/admin/system/system-schema.ts'
import type { Page } from './api.ts'
import { isStaff, useSession } from './session.ts'
import { useResource } from './use-resource.ts'

const shown = 100

export function useOpenAlerts() {
  return useResource<Page<Alert>>('/alerts', {
    query: { limit: shown },
    refetchInterval: 10_000,
    enabled: isStaff(useSession()),
  })
}

let [page, count] = ['', '']

function show(): void {
  document.title = `${count === '' ? '' : `(${count}) `}${page} · Model Gateway`
}

export function usePageTitle(title: string): void {
  useEffect(() => {
    page = title
    show()
  }, [title])
}

/** Those that are not acknowledged: `3`, or `100+`; empty when there is none. Puts it into the title. */
export function useAlertCount(): string {
  const { data } = useOpenAlerts()
  // The others are acknowledged.
  const { length } = data?.items.filter(({ acknowledged_at }) => acknowledged_at === null) ?? []
  const text = length === 0 ? '' : `${length}${data?.next_cursor == null ? '' : '+'}`
  useEffect(() => {
    count = text
    show()
    return () => {
      count = ''
    }
  }, [text])
  return text
}

// Addresses under /console/: the path names the page, the query holds its whole state, so that a page can
// be bookmarked and shared.
import {
  type AnchorHTMLAttributes,
  type MouseEvent,
  useCallback,
  useSyncExternalStore,
} from 'react'

const base = '/console'
const changed = new EventTarget()

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  changed.addEventListener('change', listener)
  return () => {
    removeEventListener('popstate', listener)
    changed.removeEventListener('change', listener)
  }
}

const current = (): string => location.pathname.slice(base.length) + location.search

interface ConsoleLocation {
  /** Begins with a slash. */
  path: string
  query: URLSearchParams
}

export function useLocation(): ConsoleLocation {
  const text = useSyncExternalStore(subscribe, current)
  const [path = '', query = ''] = text.split('?')
  return { path: path === '' ? '/' : path, query: new URLSearchParams(query) }
}

/** To a page of the console: `/tasks?state=running`. */
export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', base + to)
  changed.dispatchEvent(new Event('change'))
}

/** One value of the query; undefined takes it out. */
export function useQueryValue(
  name: string,
): [string | undefined, (value: string | undefined, how?: 'push' | 'replace') => void] {
  const { query } = useLocation()
  const set = useCallback(
    (value: string | undefined, how: 'push' | 'replace' = 'push') =>
      setQuery({ [name]: value }, how),
    [name],
  )
  return [query.get(name) ?? undefined, set]
}

/** Whether the address asks for something to be open, such as the form of a new row. */
export function useFlag(name: string): [boolean, (isOn: boolean) => void] {
  const [value, set] = useQueryValue(name)
  return [value !== undefined, (isOn) => set(isOn ? '1' : undefined, 'replace')]
}

export function setQuery(
  values: Readonly<Record<string, string | undefined>>,
  how: 'push' | 'replace' = 'push',
): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.size === 0 ? '' : `?${query}`
  navigate(location.pathname.slice(base.length) + text, how)
}

export function Link({ to, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(to)
    rest.onClick?.(event)
  }
  return <a {...rest} href={base + to} onClick={follow} />
}

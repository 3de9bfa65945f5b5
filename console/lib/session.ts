// The session: the signed-in person, their role, and the environment of the gateway.
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Role, Session } from '../../src/admin/people/person-schema.ts'
import { ApiError, api, parseResponse } from './api.ts'
import { watched } from './connection.ts'

export type { Role, Session }

/** What theme.js has asked for is taken once. */
async function readSession(): Promise<Session> {
  const page = globalThis as { earlySession?: Promise<Response | undefined> | undefined }
  const early = await watched(Promise.resolve(page.earlySession))
  page.earlySession = undefined
  return early === undefined ? api<Session>('GET', '/session') : parseResponse<Session>(early)
}

/** Null: not signed in. */
export function useSessionQuery() {
  return useQuery<Session | null>({
    queryKey: ['session'],
    queryFn: async ({ client }) => {
      const before = client.getQueryData<Session | null>(['session'])
      try {
        const session = await readSession()
        // Another person has signed in from another tab.
        if (before && before.name !== session.name) clearCache(client)
        rememberSession(true)
        return session
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }
    },
    staleTime: 60_000,
    retry: 2,
  })
}

/** Set while a person is signed in here; without a session it means that the session has expired. */
const signedInKey = 'gateway-signed-in'

/** The last session in this browser ended by itself. */
export function hasExpired(): boolean {
  try {
    return localStorage.getItem(signedInKey) !== null
  } catch {
    return false
  }
}

export function rememberSession(isThere: boolean): void {
  try {
    if (isThere) localStorage.setItem(signedInKey, '')
    else localStorage.removeItem(signedInKey)
  } catch {
    // Then the sign-in says no reason.
  }
}

/** Removes all that the person saw, before another one signs in. */
export function endSession(queryClient: QueryClient, why: 'signed out' | 'expired'): void {
  if (why === 'signed out') rememberSession(false)
  queryClient.setQueryData(['session'], null)
  clearCache(queryClient)
  sessionStorage.clear()
}

function clearCache(queryClient: QueryClient): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('used outside of a session')
  return session
}

/** Members do not see channels, upstream names and attempts; the API leaves them out. */
export const isStaff = ({ role }: Session): boolean => role !== 'member'

export const hasRole = (session: Session, roles: readonly Role[]): boolean =>
  session.role === 'administrator' || roles.includes(session.role)

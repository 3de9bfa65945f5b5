// The console begins here: theme, queryClient to the gateway, and who is signed in.
import '@mantine/core/styles.css'
import './tokens.css'
import './mantine.css'
import './console.css'
import { type MantineColorSchemeManager, MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { ApiError, signedOut } from './lib/api.ts'
import { connection } from './lib/connection.ts'
import { useMessages } from './lib/messages.ts'
import { endSession } from './lib/session.ts'
import { baseTheme } from './mantine-theme.ts'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays a refusal; a gateway that restarts comes back.
      retry: (failures, error) =>
        !(error instanceof ApiError && error.status < 500) && failures < 5,
      retryDelay: (attempt) => Math.min(1_000 * 2 ** attempt, 8_000),
    },
  },
})
signedOut.addEventListener('signed-out', () => {
  if (queryClient.getQueryData(['session']) !== null) endSession(queryClient, 'expired')
})
connection.addEventListener('reconnected', () => void queryClient.invalidateQueries())

/** Menus and dialogs are drawn in a landmark of their own, so that nothing lies outside of all. */
const overlays = document.createElement('section')
document.body.append(overlays)

/** The theme, with labels of close buttons in the current language. */
function ThemeProvider({ children }: { children: ReactNode }) {
  const t = useMessages()
  const [label, toggleLabel] = [t('close'), t('show_or_hide')]
  const theme = useMemo(() => {
    const named = { defaultProps: { closeButtonProps: { 'aria-label': label } } }
    // The header of a dialog is no banner of the page.
    const plain = { defaultProps: { role: 'presentation' } }
    const overlay = { defaultProps: { target: overlays } }
    return mergeThemeOverrides(baseTheme, {
      components: {
        ...{ Modal: named, Drawer: named, ModalHeader: plain, DrawerHeader: plain },
        Portal: overlay,
        // A menu has nothing in it but its items.
        Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
        PasswordInput: {
          defaultProps: { visibilityToggleButtonProps: { 'aria-label': toggleLabel } },
        },
      },
    })
  }, [label, toggleLabel])
  const overlaysLabel = t('overlays')
  useEffect(() => overlays.setAttribute('aria-label', overlaysLabel), [overlaysLabel])
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={themes}
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  )
}

/** The entry that theme.js reads before the first paint. */
const themes: MantineColorSchemeManager = {
  get: (otherwise) => {
    const stored = localStorage.getItem('gateway-theme')
    return stored === 'light' || stored === 'dark' || stored === 'auto' ? stored : otherwise
  },
  set: (value) => localStorage.setItem('gateway-theme', value),
  subscribe: () => {},
  unsubscribe: () => {},
  clear: () => localStorage.removeItem('gateway-theme'),
}

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''
// The library that locks scrolling under a drawer reads it here.
Object.assign(globalThis, { __webpack_nonce__: nonce })

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <ThemeProvider>
      <App />
    </ThemeProvider>
  </QueryClientProvider>,
)

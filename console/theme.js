// Before the first paint: light or dark, as this browser was last told or as the system has it, and
// whether names are hidden from onlookers. Asks for the session, too.
;(() => {
  let chosen = 'auto'
  try {
    chosen = localStorage.getItem('gateway-theme') || 'auto'
    if (localStorage.getItem('gateway-private') !== null) {
      document.documentElement.setAttribute('data-private', '')
    }
  } catch {
    // A browser that keeps nothing follows the system.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  // Every page needs the session: it is asked for while the application is loaded.
  globalThis.earlySession = fetch('/admin/v1/session').catch(() => undefined)
})()

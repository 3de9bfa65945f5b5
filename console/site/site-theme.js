// Before the first paint: light or dark, as this browser was last told or as the system has it. The console
// keeps its choice under the same name.
;(() => {
  let chosen = 'auto'
  try {
    chosen = localStorage.getItem('gateway-theme') || 'auto'
  } catch {
    // A browser that keeps nothing follows the system.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  const root = document.documentElement
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  root.setAttribute('data-script', '')
})()

// The script of the documentation: theme, menu of a phone, search, examples. Pages can be read without it.
import './site.css'
import { prepareExamples } from './examples.ts'
import { prepareSearch } from './search.ts'

const icon = (path: string): string =>
  `<svg width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`

const sun =
  'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2'
const moon = 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z'

function prepareTheme(): void {
  const button = document.querySelector<HTMLButtonElement>('.theme-button')
  if (button === null) return
  const root = document.documentElement
  const scheme = 'data-mantine-color-scheme'
  const draw = () => {
    button.innerHTML = icon(root.getAttribute(scheme) === 'dark' ? sun : moon)
  }
  button.hidden = false
  button.addEventListener('click', () => {
    const next = root.getAttribute(scheme) === 'dark' ? 'light' : 'dark'
    root.setAttribute(scheme, next)
    try {
      localStorage.setItem('gateway-theme', next)
    } catch {
      // It holds until the page is closed.
    }
    draw()
  })
  draw()
}

function prepareMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('.menu-button')
  const menu = document.getElementById('menu')
  if (button === null || menu === null) return
  button.innerHTML = icon('M4 7h16M4 12h16M4 17h16')
  button.hidden = false
  const set = (isOpen: boolean) => {
    button.setAttribute('aria-expanded', String(isOpen))
    menu.toggleAttribute('data-open', isOpen)
  }
  button.addEventListener('click', () => set(!menu.hasAttribute('data-open')))
  menu.addEventListener('click', (event) => {
    if ((event.target as Element).closest('a') !== null) set(false)
  })
  menu.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
}

/** The heading that was passed last is the current one of the contents. */
function prepareContents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a')]
  const headings = links.flatMap((link) => document.getElementById(link.hash.slice(1)) ?? [])
  if (headings.length === 0) return
  const topPx = 96
  const mark = () => {
    const passed = headings.filter((each) => each.getBoundingClientRect().top < topPx)
    const current = passed.at(-1) ?? headings[0]!
    for (const link of links) {
      if (link.hash === `#${current.id}`) link.setAttribute('aria-current', 'location')
      else link.removeAttribute('aria-current')
    }
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}

/** A call of the reference that a link leads to is unfolded. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
}

prepareTheme()
prepareMenu()
prepareContents()
prepareExamples()
prepareSearch()
openTarget()
addEventListener('hashchange', openTarget)

// What a reader would see at once: something wider than its place, a text that is cut and cannot be read
// in full by hovering, a control beyond the edge of the screen.
import type { Page } from 'playwright-core'

/** Runs in the page. Code may be wider than its box, rows of tabs may scroll. */
const findFaults = `(() => {
  const dialogs = [...document.querySelectorAll('[role=dialog]')].filter((each) => each.checkVisibility())
  const tops = dialogs.length > 0 ? dialogs : [document.body]
  const all = tops.flatMap((top) => [top, ...top.querySelectorAll('*')])
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  const isCode = (each) => each.closest('pre, code, textarea, nav, .uplot, svg, [role=tablist], [aria-hidden=true]') !== null
  const says = (each) => each.outerHTML.slice(0, 110) + ' … ' + each.textContent.slice(0, 60)
  const wide = (each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0
  const styleOf = new Map(all.map((each) => [each, getComputedStyle(each)]))
  const hasOwnText = (each) =>
    [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')
  const isHidden = (each) => each.clientWidth <= 1 || each.clientHeight <= 1
  const isNamed = (each) => each.closest('[title]') !== null || each.querySelector('[title]') !== null
  const found = []
  const root = document.documentElement
  if (wide(root)) found.push('the page scrolls sideways: ' + root.scrollWidth + ' px')
  for (const each of all) {
    if (isCode(each) || isHidden(each)) continue
    const { overflowX } = styleOf.get(each)
    if (/auto|scroll/.test(overflowX) && wide(each)) found.push('scrolls sideways: ' + says(each))
    if (/hidden|clip/.test(overflowX) && wide(each) && !isNamed(each) && each.tagName !== 'INPUT') {
      if (hasOwnText(each) || each.childElementCount < 3) found.push('cut: ' + says(each))
    }
    if (each.matches('h1, h2, h3, th, [role=columnheader], [role=alert]') && wide(each)) {
      found.push('too wide: ' + says(each))
    }
    if (each.matches('button, a[href], input, select, [role=tab], [role=menuitem]')) {
      const { left, right } = each.getBoundingClientRect()
      if ((right > innerWidth + 1 || left < -1) && right - left > 1) {
        found.push('off screen: ' + says(each))
      }
    }
  }
  return [...new Set(found)].slice(0, 8)
})()`

export const layoutFaults = (page: Page): Promise<string[]> => page.evaluate<string[]>(findFaults)

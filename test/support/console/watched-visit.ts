// A visit to the console under watch: what runs, opens, leaves or breaks the policy without leave is
// written down.
import type { Browser, Page } from 'playwright-core'
import { type Poll, type Visit, visit } from './browser.ts'

export interface Watched extends Visit {
  /** Everything that must not have happened, in words. */
  incidents: string[]
}

export async function watchedVisit(
  browser: Browser,
  base: string,
  poll: Poll = {},
): Promise<Watched> {
  const seen = await visit(browser, base, poll)
  const incidents: string[] = []
  const { context, page } = seen
  const at = () => page.url().slice(0, 200)
  await context.exposeBinding('hit', (_, text) => incidents.push(`ran ${text} at ${at()}`))
  await context.exposeBinding('violated', (_, text) => incidents.push(`${text} at ${at()}`))
  await context.addInitScript(`
    document.addEventListener('securitypolicyviolation', (event) =>
      violated('policy ' + event.effectiveDirective + ' of ' + event.blockedURI))
  `)
  context.on('request', (request) => {
    const url = request.url()
    if (/^(?:data|blob):/.test(url) || new URL(url).origin === base) return
    incidents.push(`asked ${url.slice(0, 200)} at ${at()}`)
  })
  context.on('page', (opened) => incidents.push(`opened ${opened.url()}`))
  page.on('pageerror', (error) => incidents.push(`broke at ${at()}: ${error.message}`))
  page.on('dialog', (dialog) => {
    incidents.push(`dialog ${dialog.message()} at ${at()}`)
    void dialog.dismiss()
  })
  page.on('framenavigated', (frame) => {
    if (new URL(frame.url()).origin !== base) incidents.push(`went to ${frame.url()}`)
  })
  return { ...seen, incidents }
}

/** Elements and links that only a text taken for markup would make. */
export const strangers = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const made = 'script:not([src^="/console/"]), iframe, object, embed, base, marquee, math, mglyph, ' +
      'svg script, svg a, svg use, details[ontoggle], form[action^="javascript:"], ' +
      '[onerror], [onload], [onbegin], [onfocus], [onmouseover], meta[http-equiv]'
    const found = [...document.querySelectorAll(made)].map((each) => each.outerHTML.slice(0, 200))
    for (const link of document.querySelectorAll('a[href], area[href]')) {
      const isOurs = link.origin === location.origin
      const isWeb = link.protocol === 'http:' || link.protocol === 'https:'
      const isApart = link.target === '_blank' && link.relList.contains('noreferrer')
      if (!isWeb || !(isOurs || isApart)) found.push(link.outerHTML.slice(0, 200))
    }
    for (const each of document.querySelectorAll('[src], link[href]')) {
      const url = each.src ?? each.href
      if (new URL(url).origin !== location.origin && !/^(data|blob):/.test(url)) {
        found.push(each.outerHTML.slice(0, 200))
      }
    }
    return found
  })()`)

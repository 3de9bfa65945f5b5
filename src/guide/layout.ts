// The frame of every page of the documentation: header with search, menu by audience, contents of the page,
// the pages before and after. Its style and its script are files of the gateway; nothing comes from elsewhere.
import { escapeHtml } from '../openapi/page-schema.ts'
import type { Heading } from './markdown.ts'
import { addressOf, guidePath, type MenuGroup } from './pages.ts'

const assetsPath = '/docs/assets'

export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export interface Frame {
  title: string
  /** The current place in the header. */
  place: 'guide' | 'reference' | 'admin' | undefined
  /** HTML. */
  side: string
  /** HTML. */
  body: string
  headings?: readonly Heading[]
  /** The admin API and the console are on another listener. */
  isForCallersOnly: boolean
}

const mark = `<svg width="20" height="20" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true"><path d="M0 15V5.500a4.500 4.500 0 0 1 8-2.840A4.500 4.500 0 0 1 16 5.500V15h-2V5.500a2.500 2.500 0 0 0-5 0V15H7V5.500a2.500 2.500 0 0 0-5 0V15z"/><path class="brand-accent" d="M10 8h3v7h-3z"/></svg>`

const link = (href: string, text: string, isCurrent = false): string =>
  `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a>`

export function pageHtml(frame: Frame): string {
  const { title, body, side, place, headings = [] } = frame
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Model Gateway</title>
<link rel="icon" type="image/svg+xml" href="${assetsPath}/mark.svg">
<script src="${assetsPath}/site-theme.js"></script>
<link rel="stylesheet" href="${assetsPath}/site.css">
<script type="module" src="${assetsPath}/site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
${headerHtml(frame)}
<div class="frame"${place === 'guide' ? '' : ' data-wide'}>
<nav class="side" id="menu" aria-label="Pages">
<div class="side-places">${placesHtml(frame)}</div>
${side}</nav>
<main id="content" tabindex="-1">
${body}
</main>
${place === 'guide' ? contentsHtml(headings) : ''}
</div>
</body>
</html>
`
}

const placesHtml = ({ place, isForCallersOnly }: Frame): string =>
  [
    link(guidePath, 'Guide', place === 'guide'),
    link('/docs', 'API reference', place === 'reference'),
    ...(isForCallersOnly
      ? []
      : [
          link('/docs/admin', 'Admin API', place === 'admin'),
          '<a class="button" href="/console/">Open the console</a>',
        ]),
  ].join('')

function headerHtml(frame: Frame): string {
  return `<header class="top">
<button type="button" class="icon menu-button" aria-controls="menu" aria-expanded="false" aria-label="Menu" hidden></button>
<a class="brand" href="${guidePath}">${mark}Model Gateway <span>Docs</span></a>
<div class="search" hidden></div>
<nav class="places" aria-label="Documentation">${placesHtml(frame)}</nav>
<button type="button" class="icon theme-button" aria-label="Change theme" hidden></button>
</header>`
}

/** Short pages need none. */
function contentsHtml(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return '<div class="contents"></div>'
  const items = shown.map(
    ({ level, id, text }) => `<li class="level-${level}">${link(`#${id}`, text)}</li>`,
  )
  return `<nav class="contents" aria-labelledby="contents-title"><p id="contents-title">On this page</p><ul>${items.join('')}</ul></nav>`
}

export const menuHtml = (groups: readonly MenuGroup[], current: string): string =>
  groups
    .map(({ title, audience, pages }) => {
      const isOpen = current === '' || pages.some(({ name }) => name === current)
      const items = pages.map(
        ({ name, title: text }) => `<li>${link(addressOf(name), text, name === current)}</li>`,
      )
      const note = audience === '' ? '' : `<small>${escapeHtml(audience)}</small>`
      return `<details${isOpen ? ' open' : ''}><summary><b>${escapeHtml(title)}</b>${note}</summary><ul>${items.join('')}</ul></details>`
    })
    .join('')

export const groupsHtml = (groups: readonly { id: string; title: string }[]): string =>
  `<ul>${groups.map(({ id, title }) => `<li>${link(`#${id}`, title)}</li>`).join('')}</ul>`

/** The way from the group to the page, above it. */
export const breadcrumbHtml = (group: string, title: string): string =>
  `<p class="crumbs">${escapeHtml(group)} <span aria-hidden="true">/</span> ${escapeHtml(title)}</p>`

interface Neighbor {
  name: string
  title: string
}

export function neighborsHtml(before: Neighbor | undefined, after: Neighbor | undefined): string {
  const card = ({ name, title }: Neighbor, word: string, place: string) =>
    `<a class="${place}" href="${addressOf(name)}"><small>${word}</small>${escapeHtml(title)}</a>`
  return `<nav class="neighbors" aria-label="Previous and next page">${
    before === undefined ? '<span></span>' : card(before, 'Previous', 'before')
  }${after === undefined ? '' : card(after, 'Next', 'after')}</nav>`
}

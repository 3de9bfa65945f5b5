// The documentation as one site: the guide, made from docs/, the reference of both APIs, and what the search
// needs. Made on first use, then cached: a gateway whose documentation is not read loads none of it.
import { refuse } from '../contract/errors.ts'
import { answerRefusal } from '../http/render-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { OpenApi } from '../openapi/document.ts'
import { adminDocument, dataDocument } from '../openapi/documents.ts'
import { answerPacked, pack, packedOnce } from '../openapi/packed.ts'
import { type ReferenceGroup, referenceGroups, referenceHtml } from '../openapi/page.ts'
import { escapeHtml } from '../openapi/page-schema.ts'
import { fenceHtml } from './code.ts'
import {
  breadcrumbHtml,
  type Frame,
  groupsHtml,
  menuHtml,
  neighborsHtml,
  pageHtml,
  sitePolicy,
} from './layout.ts'
import { render, sectionsIn } from './markdown.ts'
import {
  addressOf,
  fileOf,
  firstPage,
  guidePath,
  linkFor,
  type MenuGroup,
  menuOf,
} from './pages.ts'

export interface Site {
  publicUrl: string
  /** The admin API and the console are on another listener. */
  isForCallersOnly: boolean
}

const html = 'text/html; charset=utf-8'

type Make = (site: Site) => Promise<readonly [type: string, text: string]>

const ownPages: Readonly<Record<string, Make>> = {
  '/docs': async (site) => {
    const about = { title: 'API reference', json: '/openapi.json', place: 'reference' } as const
    return [html, referencePage(await dataDocument(site.publicUrl), { ...site, ...about })]
  },
  '/docs/admin': async (site) => {
    const about = { title: 'Admin API', json: '/openapi.admin.json', place: 'admin' } as const
    return [html, referencePage(adminDocument(site.publicUrl), { ...site, ...about })]
  },
  '/docs/search.json': async (site) => ['application/json', await searchEntries(site)],
}

export async function serveSite(x: RequestContext, site: Site): Promise<Response> {
  const own = Object.hasOwn(ownPages, x.path) ? ownPages[x.path] : undefined
  if (own !== undefined && !(site.isForCallersOnly && x.path === '/docs/admin')) {
    return answer(x, x.path, site, () => own(site))
  }
  const isGuide = x.path === guidePath || x.path.startsWith(`${guidePath}/`)
  const name = x.path.slice(guidePath.length + 1)
  if (isGuide && fileOf(name) !== undefined) {
    return answer(x, x.path, site, async () => [html, await guidePage(name, site)])
  }
  return answerMissing(x, site)
}

async function answer(
  x: RequestContext,
  path: string,
  site: Site,
  make: () => ReturnType<Make>,
): Promise<Response> {
  const key = `${path} ${site.publicUrl} ${site.isForCallersOnly}`
  return answerPacked(x, await packedOnce(key, async () => pack(...(await make()))), sitePolicy)
}

/** A person gets a page with the ways on, a program the refusal. */
async function answerMissing(x: RequestContext, site: Site): Promise<Response> {
  if (x.request.headers.get('accept')?.includes('text/html') !== true) {
    return answerRefusal(x, refuse('not_found', `the documentation has no page '${x.path}'`))
  }
  const body = `<p class="crumbs">404</p><h1>This page does not exist</h1>
<p class="lead">The documentation has no page at <code>${escapeHtml(x.path)}</code>. It may have been renamed: search for
a word of its title, or begin at the <a href="${guidePath}">first page</a>.</p>`
  const side = menuHtml(await menu(), '')
  const page = pageHtml({ ...site, title: 'Page not found', place: undefined, side, body })
  return answerPacked(x, pack(html, page), sitePolicy, 404)
}

const readPage = (name: string): Promise<string> => Bun.file(fileOf(name)!).text()

const menu = async (): Promise<MenuGroup[]> => menuOf(await readPage(firstPage))

/** The examples are written for a gateway on the reader's machine. */
const exampleUrl = /http:\/\/localhost:8080(?![\d-])/g

/** Addresses on pages of providers are those of their own servers. */
async function pageText(name: string, { publicUrl }: Site): Promise<string> {
  const text = await readPage(name)
  const own = publicUrl.replace(/\/+$/, '')
  return name.startsWith('providers-') ? text : text.replace(exampleUrl, own)
}

async function guidePage(name: string, site: Site): Promise<string> {
  const { title, html: text, headings } = render(await pageText(name, site), linkFor)
  const groups = await menu()
  const group = groups.find(({ pages }) => pages.some((page) => page.name === name))
  const all = groups.flatMap(({ pages }) => pages)
  const at = all.findIndex((page) => page.name === name)
  const crumbs = group === undefined ? '' : breadcrumbHtml(group.title, title)
  const neighbors = neighborsHtml(all[at - 1], all[at + 1])
  return pageHtml({
    ...{ ...site, title, headings, place: 'guide' },
    side: menuHtml(groups, name === firstPage ? '' : name),
    body: `${crumbs}${text}${neighbors}`,
  })
}

const code = (text: string, language: string): string =>
  fenceHtml({ code: text, language, isOutput: false })

function referencePage(
  document: OpenApi,
  about: Site & Pick<Frame, 'place' | 'title'> & { json: string },
): string {
  const side = groupsHtml([...referenceGroups(document), { id: 'schemas', title: 'Schemas' }])
  return pageHtml({ ...about, side, body: referenceHtml(document, about, code) })
}

/** What can be found: sections of pages, and calls. */
interface SearchEntry {
  /** The page, or the reference. */
  page: string
  title: string
  url: string
  text: string
  /** Few readers look for it. */
  isForContributors?: true
}

async function searchEntries(site: Site): Promise<string> {
  const entries: SearchEntry[] = []
  for (const { pages, audience } of await menu()) {
    const mark = audience === 'For contributors' ? ({ isForContributors: true } as const) : {}
    for (const { name } of pages) {
      const sections = sectionsIn(await pageText(name, site))
      for (const { id, text, level, body } of sections) {
        const url = level === 1 ? addressOf(name) : `${addressOf(name)}#${id}`
        entries.push({ page: sections[0]!.text, title: text, url, text: body, ...mark })
      }
    }
  }
  const data = referenceGroups(await dataDocument(site.publicUrl))
  entries.push(...callsOf(data, 'API reference', '/docs'))
  if (!site.isForCallersOnly) {
    const admin = referenceGroups(adminDocument(site.publicUrl))
    entries.push(...callsOf(admin, 'Admin API', '/docs/admin'))
  }
  return JSON.stringify(entries)
}

const callsOf = (groups: readonly ReferenceGroup[], page: string, path: string): SearchEntry[] =>
  groups.flatMap(({ calls }) =>
    calls.map(({ id, name, summary, text }) => ({
      ...{ page, title: `${summary} (${name})`, url: `${path}#${id}`, text },
    })),
  )

// The guide as HTML pages, rendered from docs/: no script and nothing from other hosts. Rendered on first
// use, then cached.
import { createHash } from 'node:crypto'
import { refuse } from '../contract/errors.ts'
import { answerRefusal } from '../http/render-error.ts'
import { answerHeaders, type RequestContext } from '../http/request-context.ts'
import { assets } from '../lib/assets.ts'
import { hasTag } from '../lib/http/byte-range.ts'
import { pagePolicy } from '../openapi/page.ts'
import { pageStyle } from '../openapi/page-style.ts'

export const guidePath = '/docs/guide'
const first = 'README'
/** Folders of docs whose pages are served. A page is addressed by its name, which is unique among them. */
const folders = ['use/', 'run/', 'money/', 'contribute/', '']

interface Made {
  html: string
  etag: string
}

const kept = new Map<string, Made>()

export async function serveGuide(x: RequestContext, publicUrl: string): Promise<Response> {
  const name = x.path.slice(guidePath.length).replace(/^\/|\/$/g, '')
  const made = await pageFor(name, publicUrl)
  if (made === undefined) {
    return answerRefusal(x, refuse('not_found', `the guide has no page '${name}'`))
  }
  const headers = {
    ...answerHeaders(x, 'text/html; charset=utf-8'),
    etag: made.etag,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': pagePolicy,
  }
  const isKnown = hasTag(x.request.headers.get('if-none-match') ?? undefined, made.etag)
  return isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(made.html, { headers })
}

async function pageFor(name: string, publicUrl: string): Promise<Made | undefined> {
  const known = kept.get(name)
  if (known !== undefined) return known
  const path = pathOf(name)
  if (path === undefined) return undefined
  const text = await Bun.file(path).text()
  // Addresses on pages of providers are those of their own servers.
  const html = wholePage(name.startsWith('providers-') ? text : atAddress(text, publicUrl))
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`
  const made = { html, etag }
  kept.set(name, made)
  return made
}

/** The examples are written for a gateway on the reader's machine. */
const exampleUrl = /http:\/\/localhost:8080(?![\d-])/g

const atAddress = (markdown: string, publicUrl: string): string =>
  markdown.replace(exampleUrl, publicUrl.replace(/\/+$/, ''))

function pathOf(name: string): string | undefined {
  const folder = folders.find((each) => assets.docs.has(`${each}${name}`)) ?? ''
  return assets.docs.get(name === '' ? first : `${folder}${name}`)
}

/**
 * Links between the texts become links between the pages; pages that are not served lead to the first page.
 * Other files of the repository are not served: links to them become plain text, and pictures are left out.
 */
const linked = (html: string): string =>
  html
    .replace(/href="([^":]*?)([\w-]+)\.md(#[^"]*)?"/g, (_, path: string, page, anchor = '') => {
      const isServed =
        !path.includes('decisions/') && page !== 'README' && pathOf(page) !== undefined
      return `href="${guidePath}${isServed ? `/${page}${anchor}` : ''}"`
    })
    .replace(/<a href="(?!https?:|[/#])[^"]*">(.*?)<\/a>/g, '$1')
    .replaceAll(/(?:<p>)?<img src="(?!https?:)[^>]*>(?:<\/p>)?/g, '')

function wholePage(markdown: string): string {
  // The words after the language of a fence are for the tests.
  const text = markdown.replace(/^```(\w+) \w+$/gm, '```$1')
  const [, title = 'Guide'] = /^# (.+)$/m.exec(text) ?? []
  const body = linked(Bun.markdown.html(text, { headings: { ids: true }, tables: true }))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replace(/[<&]/g, '')} · Model Gateway</title>
<style>${pageStyle}</style>
</head>
<body>
<nav aria-label="Documentation"><ul>
<li><a href="${guidePath}">Guide</a></li>
<li><a href="/docs">Interfaces</a></li>
<li><a href="/docs/admin">Admin API</a></li>
</ul></nav>
<main>
${body}</main>
</body>
</html>
`
}

// Serves the documents and their pages: made on first use, then cached.
import { createHash } from 'node:crypto'
import { answerHeaders, type RequestContext } from '../http/request-context.ts'
import { hasTag } from '../lib/http/byte-range.ts'
import type { OpenApi } from './document.ts'
import { adminDocument, dataDocument } from './documents.ts'
import { llmsText } from './llms.ts'
import { type PageLinks, pageOf, pagePolicy } from './page.ts'

export type ApiDocument = 'data' | 'admin' | 'page' | 'adminPage' | 'llms'

interface Made {
  type: string
  body: Buffer<ArrayBuffer>
  packed: Uint8Array<ArrayBuffer>
  etag: string
}

const html = 'text/html; charset=utf-8'
const links: Readonly<Record<'page' | 'adminPage', PageLinks>> = {
  page: {
    json: '/openapi.json',
    others: [
      ['/docs/guide', 'Guide'],
      ['/docs/admin', 'Admin API'],
      ['/llms.txt', 'llms.txt'],
    ],
  },
  adminPage: {
    json: '/openapi.admin.json',
    others: [
      ['/docs/guide', 'Guide'],
      ['/docs', 'Interfaces'],
    ],
  },
}

type Text = [type: string, text: string]
const json = (document: OpenApi): Text => ['application/json', JSON.stringify(document)]

const makers: Readonly<Record<ApiDocument, (url: string) => Promise<Text>>> = {
  data: async (url) => json(await dataDocument(url)),
  admin: async (url) => json(adminDocument(url)),
  page: async (url) => [html, pageOf(await dataDocument(url), links.page)],
  adminPage: async (url) => [html, pageOf(adminDocument(url), links.adminPage)],
  llms: async (url) => [
    'text/plain; charset=utf-8',
    llmsText(await dataDocument(url), adminDocument(url)),
  ],
}

const kept = new Map<string, Promise<Made>>()

/** After a failure the next request tries again. */
function made(apiDocument: ApiDocument, url: string): Promise<Made> {
  const key = `${apiDocument} ${url}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const making = make(apiDocument, url)
  kept.set(key, making)
  making.catch(() => kept.delete(key))
  return making
}

async function make(apiDocument: ApiDocument, url: string): Promise<Made> {
  const [type, text] = await makers[apiDocument](url)
  const body = Buffer.from(text)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type, body, packed: Bun.gzipSync(body), etag }
}

export async function serveDocument(
  x: RequestContext,
  apiDocument: ApiDocument,
  publicUrl: string,
): Promise<Response> {
  const { type, body, packed, etag } = await made(apiDocument, publicUrl)
  const { headers: asked } = x.request
  const headers: Record<string, string> = {
    ...answerHeaders(x, type),
    etag,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': type === html ? pagePolicy : "default-src 'none'",
  }
  if (hasTag(asked.get('if-none-match') ?? undefined, etag)) {
    return new Response(null, { status: 304, headers })
  }
  const packs = asked.get('accept-encoding')?.includes('gzip') === true
  return packs
    ? new Response(packed, { headers: { ...headers, 'content-encoding': 'gzip' } })
    : new Response(body, { headers })
}

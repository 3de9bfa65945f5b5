// Serves the documents for programs: made on first use, then cached.
import type { RequestContext } from '../http/request-context.ts'
import type { OpenApi } from './document.ts'
import { adminDocument, dataDocument } from './documents.ts'
import { llmsText } from './llms.ts'
import { answerPacked, pack, packedOnce } from './packed.ts'

export type ApiDocument = 'data' | 'admin' | 'llms'

type Text = [type: string, text: string]
const json = (document: OpenApi): Text => ['application/json', JSON.stringify(document)]

const makers: Readonly<Record<ApiDocument, (url: string) => Promise<Text>>> = {
  data: async (url) => json(await dataDocument(url)),
  admin: async (url) => json(adminDocument(url)),
  llms: async (url) => [
    'text/plain; charset=utf-8',
    llmsText(await dataDocument(url), adminDocument(url)),
  ],
}

export async function serveDocument(
  x: RequestContext,
  apiDocument: ApiDocument,
  publicUrl: string,
): Promise<Response> {
  const made = await packedOnce(`${apiDocument} ${publicUrl}`, async () =>
    pack(...(await makers[apiDocument](publicUrl))),
  )
  return answerPacked(x, made, "default-src 'none'")
}

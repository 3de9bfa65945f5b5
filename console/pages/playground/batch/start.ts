// Files and batches as an application asks for them.
import { parseResponse } from '../../../lib/api.ts'

const asToken = (token: string): RequestInit => ({
  headers: { authorization: `Bearer ${token}` },
  credentials: 'omit',
})

/** Uploads the file and starts its batch; the id of that. */
export async function startBatch(token: string, file: File, endpoint: string): Promise<string> {
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', file)
  const uploaded = await post<{ id: string }>('/v1/files', token, form)
  const body = { input_file_id: uploaded.id, endpoint, completion_window: '24h' }
  const made = await post<{ id: string }>('/v1/batches', token, JSON.stringify(body))
  return made.id
}

export const cancelBatch = (token: string, id: string): Promise<unknown> =>
  post(`/v1/batches/${encodeURIComponent(id)}/cancel`, token, '{}')

async function post<T>(path: string, token: string, body: string | FormData): Promise<T> {
  const init = asToken(token)
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const response = await fetch(path, {
    ...init,
    method: 'POST',
    headers: { ...(init.headers as Record<string, string>), ...type },
    body,
  })
  return parseResponse<T>(response)
}

export async function fileOf(token: string, id: string): Promise<Blob> {
  const response = await fetch(`/v1/files/${encodeURIComponent(id)}/content`, asToken(token))
  return response.ok ? response.blob() : parseResponse(response)
}

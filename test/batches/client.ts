// A caller of files and batches.
import { expect } from 'bun:test'

export interface Line {
  custom_id: string
  method: string
  url: string
  body: unknown
}

export const line = (number: number, content: string, more: object = {}): Line => ({
  custom_id: `line-${number}`,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'plain', messages: [{ role: 'user', content }], ...more },
})

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

export const answersIn = (text: string): Any[] =>
  text
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each))

export class BatchClient {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  #ask(method: string, path: string, body?: FormData | object): Promise<Response> {
    const isForm = body instanceof FormData
    return fetch(`${this.#url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    })
  }

  async call(method: string, path: string, body?: object): Promise<Any> {
    const answer = await this.#ask(method, path, body)
    const read: Any = await answer.json()
    expect([answer.status, read.error]).toEqual([200, undefined])
    return read
  }

  get = (path: string): Promise<Any> => this.call('GET', path)

  async fails(method: string, path: string, body?: object): Promise<Any> {
    const answer = await this.#ask(method, path, body)
    return { status: answer.status, ...((await answer.json()) as Any) }
  }

  form(fields: Readonly<Record<string, string | File>>): Promise<Response> {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    return this.#ask('POST', '/files', form)
  }

  async upload(text: string): Promise<Any> {
    const file = new File([text], 'input.jsonl', { type: 'application/jsonl' })
    const answer = await this.form({ file, purpose: 'batch' })
    expect(answer.status).toBe(200)
    return answer.json()
  }

  async content(id: string): Promise<string> {
    const answer = await this.#ask('GET', `/files/${id}/content`)
    expect(answer.status).toBe(200)
    return answer.text()
  }

  async start(lines: readonly Line[], more: object = {}, last = ''): Promise<Any> {
    const text = lines.map((each) => `${JSON.stringify(each)}\n`).join('')
    const { id } = await this.upload(text + last)
    const endpoint = lines[0]!.url
    const create = { input_file_id: id, endpoint, completion_window: '24h', ...more }
    return this.call('POST', '/batches', create)
  }

  async ended(id: string): Promise<Any> {
    for (;;) {
      const batch = await this.get(`/batches/${id}`)
      if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch
      await Bun.sleep(30)
    }
  }

  async run(lines: readonly Line[], more?: object, last?: string): Promise<Any> {
    return this.ended((await this.start(lines, more, last)).id)
  }
}

// The sandbox as an upstream with a batch API, behind a proxy that keeps what was asked and can be told to
// answer otherwise.
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken } from '../support/gateway.ts'

export interface Asked {
  method: string
  path: string
  body: string
}

export class NativeUpstream {
  readonly #sandbox: Sandbox
  readonly #server: Bun.Server<undefined>
  readonly asked: Asked[] = []
  /** In place of the sandbox. */
  instead: (asked: Asked) => Response | undefined = () => undefined
  /** What batches look like. */
  shown: (batch: Record<string, unknown>) => Record<string, unknown> = (batch) => batch

  constructor(taskSeconds: number) {
    this.#sandbox = startSandbox({ taskSeconds })
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => this.#answer(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  count(method: string, path: string): number {
    return this.asked.filter((each) => each.method === method && each.path === path).length
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const raw = await request.arrayBuffer()
    const asked = { method: request.method, path: pathname, body: Buffer.from(raw).toString() }
    this.asked.push(asked)
    const own = this.instead(asked)
    if (own !== undefined) return own
    const answer = await fetch(this.#sandbox.url + pathname + search, {
      method: request.method,
      headers: request.headers,
      ...(raw.byteLength > 0 && { body: raw }),
    })
    if (request.method !== 'GET' || !/^\/v1\/batches\/\w+$/.test(pathname)) {
      return new Response(await answer.arrayBuffer(), answer)
    }
    return Response.json(this.shown((await answer.json()) as Record<string, unknown>))
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
    await this.#sandbox.stop()
  }
}

export const poor = 'sk-poor-0123456789abcdefghijklmnopq'

export const nativeConfig = (url: string) => `
accounts: [{ name: acme, balance: "100.00" }, { name: poor, balance: "0.25" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: poor, name: theirs, token: ${poor} }
models:
  - { name: plain, kind: text, interfaces: [chat, messages] }
  - { name: made, kind: text, interfaces: [messages] }
  - { name: vectors, kind: embedding, interfaces: [embeddings] }
prices:
  - model: plain
    unit: token
    per_million: { input: "1000", output: "1000" }
    service_tiers: { batch: { factor: "0.5" } }
  - { model: made, unit: token, per_million: { input: "1000", output: "1000" } }
  - { model: vectors, unit: token, per_million: { input: "1000", output: "0" } }
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${url}/v1", embeddings: "${url}/v1" }
    models: { plain: up, vectors: up-vectors }
    batches: native
  - name: maker
    keys: [sk-maker-0123456789]
    protocols: { messages: "${url}" }
    models: { made: up-made }
    batches: native
`

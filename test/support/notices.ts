// A receiver of notices that believes nothing it cannot verify with the package of the standard.
import { Webhook } from 'standardwebhooks'
import { untilTrue } from './read.ts'

export interface Arrival {
  path: string
  id: string
  type: string
  at: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into notices of every type
  data: any
}

export interface NoticeReceiver {
  url(path?: string): string
  /** Notices with a valid signature, in the order of arrival. */
  readonly arrivals: Arrival[]
  /** Requests that did not verify. */
  readonly forged: string[]
  /** The status that each request gets. */
  answer: (path: string) => number
  /** Signs what is sent to this path. */
  knows(path: string, secret: string): void
  /** The first notice that fits, once it is there. */
  first(fits: (notice: Arrival) => boolean): Promise<Arrival>
  ofType(type: string): Arrival[]
  stop(): void
}

export function startReceiver(): NoticeReceiver {
  const secrets = new Map<string, string>()
  const [arrivals, forged]: [Arrival[], string[]] = [[], []]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const text = await request.text()
      try {
        const secret = secrets.get(pathname) ?? ''
        const headers = Object.fromEntries(request.headers)
        const { id, ...rest } = new Webhook(secret).verify(text, headers) as Arrival
        if (id !== request.headers.get('webhook-id')) throw new Error('another id')
        arrivals.push({ ...rest, id, path: pathname })
      } catch (error) {
        forged.push(`${pathname}: ${error}`)
      }
      return new Response(null, { status: receiver.answer(pathname) })
    },
  })
  const receiver: NoticeReceiver = {
    url: (path = '/hook') => `http://127.0.0.1:${server.port}${path}`,
    arrivals,
    forged,
    answer: () => 204,
    knows: (path, secret) => void secrets.set(path, secret),
    async first(fits) {
      const found = async () => arrivals.find(fits)
      return (await untilTrue(found, (notice) => notice !== undefined))!
    },
    ofType: (type) => arrivals.filter((each) => each.type === type),
    stop: () => void server.stop(true),
  }
  return receiver
}

// What sandboxes were asked: the newest text requests as the gateway sent them.
import type { AskedRequest } from '../../sandbox/http/asked-requests.ts'
import type { Sandbox } from '../../sandbox/server.ts'
import { adminToken, type TestGateway } from './gateway.ts'

export interface Asked extends AskedRequest {
  /** The body, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
  json: any
}

const parsed = (request: AskedRequest): Asked => ({
  ...request,
  json: request.body ? JSON.parse(request.body) : undefined,
})

/** Of a sandbox in this process, or of the one that a gateway runs itself; oldest first. */
export async function askedOf(of: Sandbox | TestGateway, since = 0): Promise<Asked[]> {
  if ('asked' in of) return of.asked(since).map(parsed)
  const url = `${await builtInSandbox(of)}/_sandbox/requests?since=${since}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${adminToken}` } })
  if (!answer.ok) throw new Error(`the sandbox answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { requests: AskedRequest[] }).requests.map(parsed)
}

/** Its address is that of the gateway's own channel. */
async function builtInSandbox(gateway: TestGateway): Promise<string> {
  const { body } = await gateway.admin('GET', '/channels')
  const channel = body.items.find(({ id }: { id: string }) => id === 'sandbox')
  return new URL(channel.protocols.chat).origin
}

/** What was asked while the work was done. */
export async function askedDuring(
  of: Sandbox | TestGateway,
  work: () => Promise<unknown>,
): Promise<Asked[]> {
  const before = (await askedOf(of)).at(-1)?.number ?? 0
  await work()
  return askedOf(of, before)
}

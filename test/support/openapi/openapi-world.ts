// A gateway with its sandbox, its two documents, and the names of things that calls have made, so that
// other calls can ask for them.
import { adminToken, apiToken, startGateway, type TestGateway } from '../gateway.ts'
import { type Call, type Described, describedBy, type Json } from './openapi.ts'

export interface World {
  gateway: TestGateway
  data: Described
  admin: Described
  /** Ids by the place they were made at, the newest last. */
  ids: Map<string, string[]>
  stop(): Promise<unknown>
}

const config = `
accounts: [{ name: acme, balance: "100000000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
`

export async function openWorld(env: Record<string, string> = {}): Promise<World> {
  const gateway = await startGateway({
    config,
    env: { GATEWAY_SANDBOX: 'on', GATEWAY_SANDBOX_TASK_SECONDS: '0.5', ...env },
  })
  const read = async (path: string) =>
    describedBy((await (await fetch(`${gateway.url}${path}`)).json()) as Json)
  const [data, admin] = [await read('/openapi.json'), await read('/openapi.admin.json')]
  return { gateway, data, admin, ids: new Map(), stop: () => gateway.stop() }
}

const secretFor = ({ operation }: Call): string | undefined => {
  const names = (operation['security'] as Json[]).flatMap((each) => Object.keys(each))
  if (names.includes('adminToken')) return adminToken
  return names.includes('token') ? apiToken : undefined
}

/** What several calls name in the same way: where an id for a path is to be found. */
const families: readonly [path: RegExp, family: string][] = [
  [/^\/imgvendor\//, '/imgvendor'],
  [/^\/vendorg\/.*(?:predictLongRunning|operations|files)/, '/vendorg'],
  [/^\/(?:v1|vendorg\/\{version\})\/models/, '/v1/models'],
  [/^\/admin\/v1\/(?:requests|explain)/, '/admin/v1/requests'],
]

/** '/admin/v1/tokens/{id}/rotate' -> '/admin/v1/tokens' */
export const familyOf = (path: string): string =>
  families.find(([pattern]) => pattern.test(path))?.[1] ?? path.split('/{')[0]!

const maxIds = 200

/** Remembers what an answer names. */
export function harvest({ ids }: World, { path, method }: Call, body: unknown): void {
  if (typeof body !== 'object' || body === null || method === 'DELETE') return
  const { items, data } = body as Json
  const named = [
    body,
    data,
    ...(Array.isArray(items) ? items : []),
    ...(Array.isArray(data) ? data : []),
  ]
  // The link for a password of a person is not a person.
  if (path.endsWith('/password-link')) return
  const family = familyOf(path)
  const known = ids.get(family) ?? []
  for (const each of named) {
    if (typeof each !== 'object' || each === null) continue
    const { id, task_id, request_id, name } = each as Record<string, string | undefined>
    const operation = name?.startsWith('operations/') ? name.slice('operations/'.length) : undefined
    const found = family === '/imgvendor' ? task_id : (id ?? operation ?? request_id)
    if (typeof found === 'string' && !known.includes(found)) known.push(found)
  }
  ids.set(family, known.slice(-maxIds))
}

/** The task center knows the address of every file. */
export async function harvestFiles({ gateway, ids }: World): Promise<void> {
  const { body } = await gateway.admin('GET', '/tasks?state=succeeded&limit=50')
  const links = (body.items as Json[]).flatMap(({ files }) => files as { url: string }[])
  const own = (body.items as Json[]).flatMap(({ media }) => media as { url: string }[])
  const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, '')
  ids.set(
    '/files',
    links.map(({ url }) => pathOf(url)).filter((path) => path.startsWith('/files/')),
  )
  ids.set(
    '/sandbox/media',
    own
      .map(({ url }) => `/sandbox${pathOf(url)}`)
      .filter((path) => path.startsWith('/sandbox/media/')),
  )
}

export async function send(
  world: World,
  call: Call,
  path: string,
  init: RequestInit & { headers?: Record<string, string> } = {},
): Promise<{ response: Response; body: Uint8Array }> {
  const secret = secretFor(call)
  const response = await fetch(`${world.gateway.url}${path}`, {
    method: call.method,
    redirect: 'manual',
    ...init,
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...init.headers,
    },
  })
  return { response, body: new Uint8Array(await response.arrayBuffer()) }
}

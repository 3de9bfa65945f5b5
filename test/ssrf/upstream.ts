// An upstream of four styles that says its results lie wherever it was told to say so. It makes
// nothing, and it is asked at an address of its own, as it is the operator who chose it.
import { allowedAddress } from './canaries.ts'

const upstreamAddress = '203.0.113.20'
const port = 8_000

export interface SsrfUpstream {
  /** Where each style is asked. */
  protocols: Readonly<Record<string, string>>
  /** Where there is a file. */
  film: string
  /** Whoever asks for this is told that it lies at the address. */
  promptFor(url: string): string
  /** How often somebody was told where it lies. */
  told(prompt: string): number
  /** Paths nobody has a reason to ask for. */
  strayed: string[]
  stop(): Promise<void>
}

type Lies = (prompt: string) => string

export function startSsrfUpstream(): SsrfUpstream {
  const urls: string[] = []
  const told = new Map<string, number>()
  const strayed: string[] = []
  const film = `http://${allowedAddress}/film`
  const lies = (prompt: string) => {
    told.set(prompt, (told.get(prompt) ?? 0) + 1)
    return urls[Number(prompt)] ?? film
  }
  const server = Bun.serve({
    hostname: upstreamAddress,
    port,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = request.method === 'POST' ? await create(pathname, request, lies) : undefined
      const answer = body ?? account(pathname, lies)
      if (answer === undefined) strayed.push(pathname)
      return Response.json(answer ?? {}, { status: answer === undefined ? 404 : 200 })
    },
  })
  const origin = `http://${upstreamAddress}:${port}`
  return {
    protocols: {
      vendorg: origin,
      images: `${origin}/v1`,
      imgvendor: `${origin}/imgvendor`,
      arkvendor: `${origin}/api/v3`,
    },
    film,
    promptFor: (url) => String(urls.push(url) - 1),
    told: (prompt) => told.get(prompt) ?? 0,
    strayed,
    stop: () => server.stop(true),
  }
}

const operations = 'models/vendorg-video-1/operations'

interface Input {
  prompt: string
  instances: [{ prompt: string }]
  content: [{ text: string }]
}

/** The id of a task is its prompt. */
async function create(path: string, request: Request, lies: Lies): Promise<object | undefined> {
  const { prompt, instances, content } = (await request.json()) as Input
  if (path.endsWith(':predictLongRunning'))
    return { name: `${operations}/op-${instances[0].prompt}` }
  if (path === '/api/v3/contents/generations/tasks') return { id: `op-${content[0].text}` }
  if (path === '/v1/images/generations') return { created: 1, data: [{ url: lies(prompt) }] }
  if (path !== '/imgvendor/v1/images/generations') return undefined
  return { code: 0, data: { task_id: `op-${prompt}`, task_status: 'submitted' } }
}

function account(path: string, lies: Lies): object | undefined {
  const [, base, prompt] = /^(.*)\/op-(\d+)$/.exec(path) ?? []
  if (base === undefined || prompt === undefined) return undefined
  const url = lies(prompt)
  if (base.endsWith('/operations')) {
    const generatedSamples = [{ video: { uri: url } }]
    const response = { generateVideoResponse: { generatedSamples } }
    return { name: `${operations}/op-${prompt}`, done: true, response }
  }
  if (base === '/api/v3/contents/generations/tasks') {
    const usage = { completion_tokens: 10, total_tokens: 10 }
    return { id: `op-${prompt}`, status: 'succeeded', content: { video_url: url }, usage }
  }
  if (base !== '/imgvendor/v1/images/generations') return undefined
  const task_result = { images: [{ index: 0, url }] }
  return { code: 0, data: { task_id: `op-${prompt}`, task_status: 'succeed', task_result } }
}

// Who is told of the ends of tasks in the storm: takes every notice but a few, which it wants again.
import type { TestGateway } from '../gateway.ts'
import type { TaskRow } from '../task-books.ts'

export interface Notice {
  webhookId: string
  taskId: string
  state: string
}

/** Each so manieth is refused once. */
const refuseEvery = 40
const maxMs = 60_000
const pauseMs = 500

export function openReceiver() {
  const notices: Notice[] = []
  let seen = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      // The flat body of pictures, or the object of native videos.
      const body = (await request.json()) as Record<string, string>
      if (++seen % refuseEvery === 0) return new Response('later', { status: 500 })
      notices.push({
        webhookId: request.headers.get('webhook-id') ?? '',
        taskId: body['platform_id'] ?? body['task_id'] ?? '',
        state: body['status'] ?? body['task_status'] ?? '',
      })
      return new Response('ok')
    },
  })
  const url = `http://127.0.0.1:${server.port}/ended`
  return { url, notices, stop: () => server.stop(true) }
}

interface Callback {
  state: string
  id: string
}

/** Until nothing waits to be told any more, or far too long. */
export async function untilTold(gateway: TestGateway, rows: readonly TaskRow[]): Promise<void> {
  const untilMs = Date.now() + maxMs
  const left = new Set(rows.map(({ id }) => id))
  while (left.size > 0 && Date.now() < untilMs) {
    for (const id of left) {
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      const callback = body.callback as Callback | null | undefined
      if (callback?.state !== 'waiting') left.delete(id)
    }
    if (left.size > 0) await Bun.sleep(pauseMs)
  }
}

// The load of the crash test of tasks: videos created once each at an address whose gateway keeps
// dying, and looked at all the while. Keeps what callers saw; knows nothing of books.
import type { Lives } from './crash-load.ts'
import { apiToken } from './gateway.ts'

export interface TaskLoad {
  /** Ids of the creates that were answered well, with their prompts. */
  created: Map<string, string>
  /** Creates that got no answer or another one. */
  unanswered: number
  /** Other answers than 200, as they stood. */
  refusals: string[]
  looks: number
  /** Every end that a caller was shown, by id; more than one is a broken promise. */
  ends: Map<string, Set<string>>
}

const lookPauseMs = 20
/** Long enough for some creates to be under way whenever a gateway dies. */
const createPauseMs = 300

const ask = (url: string, init: RequestInit = {}) =>
  fetch(url, {
    ...init,
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    // A connection of its own, because a pooled one is tried twice when it turns out to be dead.
    keepalive: false,
  })

async function createOne(url: string, prompt: string, load: TaskLoad): Promise<void> {
  const body = { model: 'vfa-2.7-t2v', prompt, seconds: '5', size: '1280x720' }
  try {
    const response = await ask(`${url}/v1/videos`, { method: 'POST', body: JSON.stringify(body) })
    const text = await response.text()
    if (response.status === 200) load.created.set((JSON.parse(text) as { id: string }).id, prompt)
    else load.refusals.push(`${response.status} ${text}`)
  } catch {
    // The gateway died under it, or was not there.
    load.unanswered++
  }
}

async function lookAtOne(url: string, id: string, load: TaskLoad): Promise<void> {
  try {
    const response = await ask(`${url}/v1/videos/${id}`)
    if (response.status !== 200) return
    const { status } = (await response.json()) as { status: string }
    load.looks++
    if (status === 'queued' || status === 'in_progress') return
    load.ends.set(id, (load.ends.get(id) ?? new Set()).add(status))
  } catch {
    // As above: the next look will do.
  }
}

/** Nobody runs ahead of the killing: the creates are spread over `leastKills` lives. */
export async function runTaskLoad(options: {
  url: string
  prompts: readonly string[]
  creators: number
  lookers: number
  leastKills: number
  lives: Lives
  random: () => number
}): Promise<TaskLoad> {
  const { url, prompts, leastKills, lives, random } = options
  const load: TaskLoad = {
    created: new Map(),
    unanswered: 0,
    refusals: [],
    looks: 0,
    ends: new Map(),
  }
  let issued = 0
  let over = false
  const creator = async () => {
    while (issued < prompts.length) {
      const killed = lives.killed()
      if (issued >= Math.ceil((prompts.length * (killed + 1)) / (leastKills + 1))) {
        await lives.after(killed + 1)
        continue
      }
      const prompt = prompts[issued++]!
      await Bun.sleep(random() * createPauseMs)
      await lives.after(lives.killed())
      await createOne(url, prompt, load)
    }
  }
  const looker = async () => {
    while (!over) {
      const ids = [...load.created.keys()]
      const id = ids[Math.floor(random() * ids.length)]
      if (id !== undefined) await lookAtOne(url, id, load)
      await Bun.sleep(lookPauseMs)
    }
  }
  const lookers = Array.from({ length: options.lookers }, looker)
  await Promise.all(Array.from({ length: options.creators }, creator))
  over = true
  await Promise.all(lookers)
  return load
}

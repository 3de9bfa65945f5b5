// The load of the crash test: calls of every kind against an address whose gateway keeps dying, each
// issued once, with what its caller saw of the answer. Knows nothing of books.
import { apiToken } from '../gateway.ts'

export interface CallKind {
  stream: boolean
  directives: string
  /** False for calls whose upstream is told to fail or to break off: nobody may pay for them. */
  canEnd: boolean
  /** The caller hangs up after the first bytes. */
  leaves?: boolean
}

const kinds: readonly [share: number, kind: CallKind][] = [
  [16, { stream: false, canEnd: true, directives: '[[sim:tokens=12]]' }],
  [16, { stream: false, canEnd: true, directives: '[[sim:delay=150ms]][[sim:tokens=30]]' }],
  [6, { stream: false, canEnd: true, directives: '[[sim:no-usage]][[sim:delay=50ms]]' }],
  [6, { stream: false, canEnd: false, directives: '[[sim:fail]]' }],
  [4, { stream: false, canEnd: false, directives: '[[sim:cut=3]]' }],
  [26, { stream: true, canEnd: true, directives: '[[sim:chunk=2ms]][[sim:tokens=90]]' }],
  [8, { stream: true, canEnd: true, directives: '[[sim:tokens=40]]' }],
  [
    6,
    {
      stream: true,
      canEnd: true,
      directives: '[[sim:no-usage]][[sim:chunk=2ms]][[sim:tokens=60]]',
    },
  ],
  [4, { stream: true, canEnd: false, directives: '[[sim:fail]]' }],
  [5, { stream: true, canEnd: false, directives: '[[sim:cut=3]][[sim:chunk=2ms]]' }],
  [
    3,
    { stream: true, canEnd: true, leaves: true, directives: '[[sim:chunk=2ms]][[sim:tokens=40]]' },
  ],
]

export interface Outcome {
  /** The name under which the upstream's own log knows the call. */
  user: string
  kind: CallKind
  /** The answer was whole: a parsed JSON body with status 200, or a stream up to [DONE]. */
  ended: boolean
  requestId: string | undefined
  /** Nothing came back at all. */
  unanswered: boolean
}

export function pickKind(random: () => number): CallKind {
  let left = random() * kinds.reduce((sum, [share]) => sum + share, 0)
  for (const [share, kind] of kinds) {
    left -= share
    if (left < 0) return kind
  }
  return kinds[0]![1]
}

export async function issue(url: string, user: string, kind: CallKind): Promise<Outcome> {
  const outcome: Outcome = { user, kind, ended: false, requestId: undefined, unanswered: true }
  const hangUp = new AbortController()
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'txta-plus',
        user,
        stream: kind.stream,
        messages: [{ role: 'user', content: `this is ${user} ${kind.directives}` }],
      }),
      signal: hangUp.signal,
      // A connection of its own, because a pooled one is tried twice when it turns out to be dead.
      keepalive: false,
    })
    outcome.unanswered = false
    outcome.requestId = response.headers.get('x-gateway-request-id') ?? undefined
    if (kind.leaves) {
      await response.body?.getReader().read()
      hangUp.abort()
      return outcome
    }
    const text = await response.text()
    if (response.status === 200) outcome.ended = isWhole(text, kind)
  } catch {
    // The gateway died under the call, or was not there.
  }
  return outcome
}

function isWhole(text: string, { stream }: CallKind): boolean {
  if (stream) return text.endsWith('data: [DONE]\n\n')
  const answer = JSON.parse(text) as { choices?: unknown }
  return Array.isArray(answer.choices)
}

export interface Lives {
  /** The gateways that have been killed so far. */
  killed(): number
  /** Resolves when a gateway serves that came up after the first `killed` had died. */
  after(killed: number): Promise<void>
}

/**
 * Issues every call once, `inFlight` at a time. Nobody runs ahead of the killing: the calls are
 * spread over at least `leastKills` lives of the gateway.
 */
export async function runLoad(options: {
  url: string
  calls: readonly CallKind[]
  inFlight: number
  minKills: number
  lives: Lives
}): Promise<Outcome[]> {
  const { url, calls, inFlight, minKills, lives } = options
  const outcomes: Outcome[] = []
  let issued = 0
  const worker = async () => {
    while (issued < calls.length) {
      const killed = lives.killed()
      if (issued >= Math.ceil((calls.length * (killed + 1)) / (minKills + 1))) {
        await lives.after(killed + 1)
        continue
      }
      const number = issued++
      const outcome = await issue(url, `call-${number}`, calls[number]!)
      outcomes.push(outcome)
      if (outcome.unanswered) await lives.after(lives.killed())
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return outcomes
}

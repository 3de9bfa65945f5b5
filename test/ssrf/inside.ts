// Runs inside the namespace, where every address is this machine, and prints what came of it as one
// line of JSON: first whoever guards addresses by themselves, then a gateway over HTTP.
import { lookup } from 'node:dns/promises'
import { fetchMedia } from '../../src/engine/tasks/create/fetch-media.ts'
import { openDownload } from '../../src/lib/net/guarded-fetch.ts'
import { guardedPost } from '../../src/lib/net/guarded-post.ts'
import {
  allowedAddress,
  type Canaries,
  openedConnections,
  publicAddress,
  settle,
  startCanaries,
} from './canaries.ts'
import { startGatewayInputs } from './gateway-inputs.ts'
import {
  attemptsFor,
  fewerAttemptsFor,
  halfOfAttempts,
  type Input,
  type Outcome,
  type Tally,
  tryAll,
} from './hops.ts'
import { newName, startResolver } from './resolver.ts'
import { allSpellings, type Spelling, someSpellings } from './spellings.ts'
import { startSsrfUpstream } from './upstream.ts'

export interface Findings {
  spellings: number
  spellingsAtGateway: number
  /** How many of them lead whoever asks without a guard to where nobody may go. */
  unguarded: number
  /** Whether a name that is looked up, judged and then asked leads there too. */
  unguardedRebinding: number
  tallies: Tally[]
  /** What came of a public address that nobody has allowed. */
  publicly: Outcome[]
  /** Connections opened by those inside the process, and how many of them came to the allowed address. */
  opened: number
  allowed: number
  /** What came to the upstream that no task has a reason for. */
  strayed: string[]
  arrived: string[]
}

const egressAllow = [`${allowedAddress}/32`]
const rules = { allow: egressAllow, httpsOnly: false }
const timeoutMs = 5_000
const unguardedMs = 300
/** Of the spellings, for a gateway over HTTP. */
const ofEachGroup = Number(process.argv[2])

const inProcess = { atOnce: 8, follows: true }
const own: readonly Input[] = [
  {
    ...inProcess,
    name: 'download',
    async tryOne(url) {
      const limits = { maxRedirects: 3, headTimeoutMs: timeoutMs }
      const answer = await openDownload(url, { rules, ...limits })
      if ('problem' in answer) return 'refused'
      await answer.body.cancel()
      return answer.status === 200 ? 'allowed' : 'refused'
    },
  },
  {
    ...inProcess,
    name: 'picture',
    tryOne: async (url) =>
      'problem' in (await fetchMedia({ egressAllow }, url)) ? 'refused' : 'allowed',
  },
  {
    ...inProcess,
    name: 'message',
    follows: false,
    async tryOne(url) {
      const posted = await guardedPost(url, { rules, headers: {}, body: '{}', timeoutMs })
      return 'status' in posted && posted.status === 200 ? 'allowed' : 'refused'
    },
  },
]

/** Shows that the canaries hear, and that the spellings mean something. */
async function askUnguarded(spellings: readonly Spelling[], canaries: Canaries): Promise<number> {
  const waiting = spellings.values()
  let reached = 0
  const work = async () => {
    for (const { url } of waiting) {
      const signal = AbortSignal.timeout(unguardedMs)
      const answer = await fetch(url, { redirect: 'manual', signal }).catch(() => undefined)
      if (answer?.status === 200 && url.trim().startsWith('http')) reached++
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  await settle()
  return Math.min(reached, canaries.arrived.length)
}

async function rebindUnguarded(canaries: Canaries): Promise<number> {
  const before = canaries.arrived.length
  const name = newName('turn', [allowedAddress, '10.0.0.1'])
  const judged = await lookup(name)
  if (judged.address === allowedAddress) await fetch(`http://${name}/`).catch(() => {})
  await settle()
  return canaries.arrived.length - before
}

async function tryInProcess(spellings: readonly Spelling[], canaries: Canaries) {
  const before = openedConnections()
  const tallies: Tally[] = []
  const publicly: Outcome[] = []
  for (const [turn, input] of own.entries()) {
    // The first has every hop; the others share the hops, as what they ask with is the same.
    const attempts = turn === 0 ? attemptsFor(spellings) : halfOfAttempts(spellings, turn)
    tallies.push(await tryAll(input, attempts))
    publicly.push(await input.tryOne(`http://${publicAddress}/`))
  }
  await settle()
  return {
    publicly,
    tallies,
    opened: openedConnections() - before,
    allowed: canaries.allowed.length,
  }
}

async function tryGateway(spellings: readonly Spelling[]) {
  const upstream = startSsrfUpstream()
  const { inputs, stop } = await startGatewayInputs(upstream)
  const tallies = await Promise.all(
    inputs.map((input, turn) => tryAll(input, fewerAttemptsFor(spellings, turn))),
  )
  await settle()
  await stop()
  await upstream.stop()
  return { tallies, strayed: upstream.strayed }
}

async function main(): Promise<Findings> {
  await startResolver()
  const canaries = await startCanaries()
  const { arrived } = canaries
  const spellings = allSpellings()
  const unguarded = await askUnguarded(spellings, canaries)
  const unguardedRebinding = await rebindUnguarded(canaries)
  arrived.length = 0
  canaries.allowed.length = 0
  const inside = await tryInProcess(spellings, canaries)
  const some = someSpellings(spellings, ofEachGroup)
  const outside = await tryGateway(some)
  return {
    spellings: spellings.length,
    spellingsAtGateway: some.length,
    ...{ unguarded, unguardedRebinding },
    ...inside,
    tallies: [...inside.tallies, ...outside.tallies],
    ...{ strayed: outside.strayed, arrived },
  }
}

console.log(JSON.stringify(await main()))
process.exit(0)

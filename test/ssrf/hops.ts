// The ways in which an address comes to be asked: given as it is, at the end of a redirect, as the
// answer to a name, or as the second answer to a name whose first was allowed.
import { allowedAddress, wayTo } from './canaries.ts'
import { newName } from './resolver.ts'
import type { Spelling } from './spellings.ts'

export type Outcome = 'refused' | 'allowed'

/** An address to hand in, and how that has to end. */
export interface Attempt {
  hop: string
  url: string
  spelling: Spelling
  expected: Outcome
}

type Hop = (spelling: Spelling) => { url: string; expected?: Outcome } | undefined

const allowedUrl = `http://${allowedAddress}`
const named = (name: string) => ({ url: `http://${name}/` })
const plainly = /^(\s*)h\t?ttp:/i

const hops: Readonly<Record<string, Hop>> = {
  direct: ({ url }) => ({ url }),
  'direct with TLS': ({ url }) =>
    plainly.test(url) ? { url: url.replace(plainly, '$1https:') } : undefined,
  redirect: ({ url }) => redirected(allowedUrl, url),
  'redirect from a name': ({ url }) =>
    redirected(`http://${newName('all', [allowedAddress])}`, url),
  'redirect with TLS': ({ url }) =>
    plainly.test(url) ? redirected(allowedUrl, url.replace(plainly, 'https:')) : undefined,
  'one answer': ({ address }) => named(newName('all', [address])),
  'last of several answers': ({ address }) => named(newName('all', [allowedAddress, address])),
  'first of several answers': ({ address }) => named(newName('all', [address, allowedAddress])),
  'answer behind a chain of names': ({ address }) => named(newName('chain', [address])),
  'redirect to a name': ({ address }) =>
    redirected(allowedUrl, `http://${newName('all', [address])}/`),
  rebinding: ({ address }) => ({
    ...named(newName('turn', [allowedAddress, address])),
    expected: 'allowed',
  }),
  'rebinding before a redirect': ({ address }) => {
    const name = newName('turn', [allowedAddress, address])
    return redirected(`http://${name}`, `http://${name}/`)
  },
}

/** What is relative to where it is read stays there, and that is allowed. */
function redirected(from: string, to: string): { url: string; expected: Outcome } {
  const target = URL.parse(to.replace(/[\r\n\0]/g, ''), from)
  const stays = target !== null && target.host === new URL(from).host && !to.includes('.ssrf.test')
  return { url: `${from}${wayTo(to)}`, expected: stays ? 'allowed' : 'refused' }
}

/** Every spelling by every hop. */
export function attemptsFor(spellings: readonly Spelling[]): Attempt[] {
  const names = Object.keys(hops)
  return spellings.flatMap((spelling) => names.flatMap((hop) => attemptAt(spelling, hop)))
}

/** Every spelling by half of the hops, which take turns; the next turn has the other half. */
export const halfOfAttempts = (spellings: readonly Spelling[], turn: number): Attempt[] =>
  spellings.flatMap((spelling, index) =>
    Object.keys(hops).flatMap((hop, way) =>
      (index + way + turn) % 2 === 0 ? attemptAt(spelling, hop) : [],
    ),
  )

const alternating: readonly (readonly string[])[] = [
  ['direct', 'direct with TLS'],
  ['redirect', 'redirect from a name', 'redirect with TLS', 'redirect to a name'],
  [
    'one answer',
    'last of several answers',
    'first of several answers',
    'answer behind a chain of names',
  ],
  ['rebinding', 'rebinding before a redirect'],
]

/** Every spelling in two of the four ways, whose kinds take turns; the next turn has the other two. */
export const fewerAttemptsFor = (spellings: readonly Spelling[], turn: number): Attempt[] =>
  spellings.flatMap((spelling, index) =>
    alternating.flatMap((kinds, way) => {
      if ((index + way + turn) % 2 !== 0) return []
      return attemptAt(spelling, kinds[Math.floor(index / 2) % kinds.length]!)
    }),
  )

function attemptAt(spelling: Spelling, hop: string): Attempt[] {
  const made = hops[hop]?.(spelling)
  return made === undefined ? [] : [{ expected: 'refused', ...made, hop, spelling }]
}

/** What came of the attempts at one input. */
export interface Tally {
  input: string
  tried: number
  hops: Record<string, { refused: number; allowed: number }>
  /** Attempts that ended otherwise than expected; the first few of them. */
  surprises: string[]
}

/** Somewhere an address is handed in that the gateway will ask by itself. */
export interface Input {
  name: string
  follows: boolean
  atOnce: number
  tryOne(url: string): Promise<Outcome>
}

const maxSurprises = 20
const control = `${allowedUrl}/control`

/** Every attempt, several at a time, and the allowed address first and last. */
export async function tryAll(
  { name: input, follows, atOnce, tryOne }: Input,
  attempts: readonly Attempt[],
): Promise<Tally> {
  const tally: Tally = { input, tried: 0, hops: {}, surprises: [] }
  const note = (hop: string, outcome: Outcome, expected: Outcome, url: string) => {
    tally.tried++
    tally.hops[hop] ??= { refused: 0, allowed: 0 }
    tally.hops[hop][outcome]++
    if (outcome === expected || tally.surprises.length >= maxSurprises) return
    tally.surprises.push(`${hop}: ${JSON.stringify(url)} was ${outcome}`)
  }
  note('control', await tryOne(control), 'allowed', control)
  const waiting = attempts.values()
  const work = async () => {
    for (const { hop, url, expected } of waiting) {
      const isLost = !follows && hop.startsWith('redirect')
      note(hop, await tryOne(url), isLost ? 'refused' : expected, url)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  note('control', await tryOne(control), 'allowed', control)
  return tally
}

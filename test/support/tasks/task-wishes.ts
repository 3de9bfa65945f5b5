// The mix of the task storm: what is asked for, in which dialect, and how its upstream will treat
// it. The prompts differ, so that no two creates look alike upstream.
import type { CrashPoint } from '../../../src/lib/crash-point.ts'
import type { WriteDialect } from './task-dialects.ts'

export type Fate = 'plain' | 'fails' | 'refused' | 'vanishes' | 'flips' | 'lost' | 'cancelled'

export interface Input {
  prompt: string
  fate: Fate
  dialect: WriteDialect
  model: string
  /** Who is to be told of its end, where the dialect has that. */
  callbackUrl?: string
}

/** Of a thousand; the rest is plain. A refused create is a failure too. */
const shares: Readonly<Record<Exclude<Fate, 'plain'>, number>> = {
  fails: 120,
  refused: 30,
  vanishes: 50,
  flips: 50,
  lost: 40,
  cancelled: 60,
}

const directives: Readonly<Record<Fate, string>> = {
  plain: '',
  fails: '[[sim:fail]]',
  refused: '[[sim:status=400]]',
  vanishes: '[[sim:vanish]]',
  flips: '[[sim:flip]]',
  // The upstream has it, and its answer breaks off.
  lost: '[[sim:cut=0]]',
  // Slow, so that it is still queued when its caller changes its mind.
  cancelled: '[[sim:delay=10s]]',
}

/** What a task of each model is set aside and charged for; all are asked for alike. */
export const amounts: Readonly<Record<string, { hold: string; charge: string }>> = {
  'vfa-2.7-t2v': { hold: '3.00', charge: '3.00' },
  'vidmodel-1-0-pro': { hold: '4.07286', charge: '3.7026' },
  'vendorg-video-1': { hold: '4.00', charge: '4.00' },
  'imgvendor-v2': { hold: '0.20', charge: '0.20' },
}

const cancellable = ['vfa-2.7-t2v', 'vidmodel-1-0-pro']

/** Where each can be asked for: at /v1/videos everything, elsewhere what is at home there. */
const ways: readonly [dialect: WriteDialect, model: string][] = [
  ['videos', 'vfa-2.7-t2v'],
  ['form', 'vfa-2.7-t2v'],
  ['videos', 'vidmodel-1-0-pro'],
  ['form', 'vidmodel-1-0-pro'],
  ['arkvendor', 'vidmodel-1-0-pro'],
  ['videos', 'vendorg-video-1'],
  ['form', 'vendorg-video-1'],
  ['vendorg', 'vendorg-video-1'],
  ['imgvendor', 'imgvendor-v2'],
  ['imgvendor', 'imgvendor-v2'],
]

export function drawInputs(count: number, random: () => number): Input[] {
  const fates: Fate[] = Object.entries(shares).flatMap(([fate, share]) =>
    Array<Fate>(Math.round((share * count) / 1_000)).fill(fate as Fate),
  )
  while (fates.length < count) fates.push('plain')
  return shuffled(fates, random).map((fate, number) => {
    const open = fate === 'cancelled' ? ways.filter(([, one]) => cancellable.includes(one)) : ways
    const [dialect, model] = open[Math.floor(random() * open.length)]!
    const prompt = `film ${number} ${directives[fate]}`.trim()
    return { prompt, fate, dialect, model }
  })
}

/** The same once more, for a caller who got no answer: another task, and not to be confused. */
export const retake = (input: Input, take: number): Input => ({
  ...input,
  prompt: `take ${take} of ${input.prompt}`,
})

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const keyed = list.map((item) => ({ item, key: random() }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
}

/** Points that only such a task passes. */
export const neededFor: Partial<Readonly<Record<CrashPoint, Fate>>> = {
  'task-refused': 'refused',
  'task-lost': 'lost',
  'task-cancelling': 'cancelled',
}

// The cases of the CPU figures: how a call differs from the usual one, and what it may cost beside nginx
// with the same work. Pure. Refuses to know processes.

import type { BodySize, Mode } from '../payload/index.ts'

/** How the proxies reach the upstream. `closing`: it closes the connection after each answer. */
export type Link = 'plain' | 'tls' | 'closing'

export interface Case {
  name: string
  modes: readonly Mode[]
  /** The upstream has another name for the model. */
  isMapped: boolean
  /** Absent: as the options say. */
  eventsPerWrite?: number
  asksUsage: boolean
  body: BodySize
  /** Absent: as the options say. */
  connections?: number
  link: Link
  /** Callers keep their connections. */
  keepsAlive: boolean
  store: 'sqlite' | 'postgres'
  /** A bare proxy on the same runtime is measured beside it. */
  hasBare: boolean
  /** Measured in turn with the other ordinary ones; memory is read from these. */
  isOrdinary: boolean
  limits: Partial<Record<Mode, string>>
}

const both: readonly Mode[] = ['json', 'stream']

/** The normal case of a gateway: the upstream has another name for the model. */
const normal: Case = {
  name: 'normal',
  modes: both,
  isMapped: true,
  asksUsage: true,
  body: 'usual',
  link: 'plain',
  keepsAlive: true,
  store: 'sqlite',
  hasBare: true,
  isOrdinary: true,
  limits: { json: '<= 4x nginx', stream: '<= 3x nginx' },
}

const ordinary = (name: string, more: Partial<Case>): Case => ({
  ...normal,
  hasBare: false,
  limits: {},
  name,
  ...more,
})

const special = (name: string, more: Partial<Case>): Case =>
  ordinary(name, { isOrdinary: false, ...more })

export const cases: readonly Case[] = [
  normal,
  ordinary('unmapped', { isMapped: false, limits: { stream: '<= 2x nginx' } }),
  ordinary('single', {
    modes: ['stream'],
    eventsPerWrite: 1,
    hasBare: true,
    limits: { stream: '<= 3x nginx' },
  }),
  ordinary('unmapped-single', {
    modes: ['stream'],
    isMapped: false,
    eventsPerWrite: 1,
    limits: { stream: '<= 2x nginx' },
  }),
  special('no-usage', { modes: ['stream'], asksUsage: false }),
  special('1kb', { modes: ['json'], body: '1kb' }),
  special('50kb', { modes: ['json'], body: '50kb' }),
  // Few callers: an account may have 128 MB of large bodies in flight.
  special('2mb', { modes: ['json'], body: '2mb', connections: 16 }),
  special('image', { modes: ['json'], body: 'image', connections: 16 }),
  special('1-connection', { connections: 1 }),
  special('1000-connections', { connections: 1000 }),
  special('tls', { link: 'tls' }),
  special('close', { modes: ['json'], link: 'closing', keepsAlive: false }),
  special('postgres', { store: 'postgres' }),
]

export const usualCases: readonly string[] = cases
  .filter(({ isOrdinary }) => isOrdinary)
  .map(({ name }) => name)

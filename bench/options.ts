// The command line of the bench, as one checked record. Refuses to know what the options do.

import { parseArgs } from 'node:util'
import type { Mode } from './payload.ts'

export interface Options {
  connections: number
  seconds: number
  rounds: number
  chunksPerWrite: number
  modes: Mode[]
  peers: boolean
  strict: boolean
  jsonFile?: string
  gatewayCommand?: string
}

export type Parsed =
  | { kind: 'run'; options: Options }
  | { kind: 'help' }
  | { kind: 'wrong'; message: string }

export const help = `Measures what the gateway costs beside nginx, on this machine, over loopback.

  npm run bench -- [options]

  --connections N        callers at once, one request at a time each (64; at most 2000)
  --seconds N            length of one slice (2; at most 60)
  --rounds N             slices per target and kind of call, interleaved (7; at most 20)
  --only json|stream     one kind of call only
  --chunks-per-write N   stream chunks the fake upstream puts in one network write (10; 1 to 100)
  --peers                also measure @portkey-ai/gateway, installed from npm into a temp dir
  --gateway-cmd CMD      start CMD as the gateway instead of 'bin/gateway start'
  --json FILE            write the result as JSON too
  --strict               exit 1 if a limit is missed, a call fails or a charge is missing
  --help                 this text`

const flags = {
  connections: { type: 'string', default: '64' },
  seconds: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '7' },
  only: { type: 'string' },
  'chunks-per-write': { type: 'string', default: '10' },
  peers: { type: 'boolean', default: false },
  'gateway-cmd': { type: 'string' },
  json: { type: 'string' },
  strict: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const mostByFlag = { connections: 2000, seconds: 60, rounds: 20, 'chunks-per-write': 100 }

export function parseOptions(args: string[]): Parsed {
  try {
    const { values } = parseArgs({ args, options: flags })
    if (values.help) return { kind: 'help' }
    const count = (name: keyof typeof mostByFlag) => {
      const value = Number(values[name])
      const most = mostByFlag[name]
      if (Number.isInteger(value) && value >= 1 && value <= most) return value
      throw new Error(`--${name} must be a whole number from 1 to ${most}`)
    }
    const options: Options = {
      connections: count('connections'),
      seconds: count('seconds'),
      rounds: count('rounds'),
      chunksPerWrite: count('chunks-per-write'),
      modes: modesOf(values.only),
      peers: values.peers,
      strict: values.strict,
      ...(values.json !== undefined && { jsonFile: values.json }),
      ...(values['gateway-cmd'] !== undefined && { gatewayCommand: values['gateway-cmd'] }),
    }
    return { kind: 'run', options }
  } catch (error) {
    return { kind: 'wrong', message: (error as Error).message }
  }
}

function modesOf(only: string | undefined): Mode[] {
  if (only === undefined) return ['json', 'stream']
  if (only === 'json' || only === 'stream') return [only]
  throw new Error('--only must be json or stream')
}

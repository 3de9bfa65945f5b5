// The command line of the bench, as one checked record. Refuses to know what the options do.

import { parseArgs } from 'node:util'
import { cases, usualCases } from './cpu/cases.ts'
import { type Mode, modes, type Style, styles, textStyles } from './payload/index.ts'

export const parts = [
  'first-token',
  'memory',
  'failover',
  'downloads',
  'poller',
  'pages',
  'ledger',
  'scaling',
  'console',
  'scrape',
  'stall',
  'hostile',
  'translated',
  'large',
  'growth',
  'overload',
  'batches',
] as const
/** Needs a package registry, so only if it is asked for. */
const peersPart = 'peers'
type Part = (typeof parts)[number] | typeof peersPart

const allPairs = textStyles.flatMap((caller) =>
  textStyles.filter((each) => each !== caller).map((upstream) => `${caller}>${upstream}`),
)
const usualPairs = ['messages>chat', 'responses>chat', 'chat>messages', 'chat>generate']

export interface Options {
  connections: number
  seconds: number
  rounds: number
  chunksPerWrite: number
  /** In flight for the poller. */
  tasks: number
  /** In the log of which pages are asked for. */
  rows: number
  /** In the database under the console. */
  requests: number
  /** Kinds of call whose CPU is measured. */
  modes: Mode[]
  styles: Style[]
  /** Names of the cases of the CPU figures. */
  cases: readonly string[]
  /** Translated calls: the caller's style and the upstream's. */
  pairs: readonly string[]
  /** Sizes of the growth figures, the smallest first. */
  growth: Record<'rows' | 'tokens' | 'models' | 'channels', readonly number[]>
  /** The other parts to run. */
  parts: Part[]
  strict: boolean
  jsonFile?: string
  gatewayCommand?: string
}

type Parsed =
  | { kind: 'run'; options: Options }
  | { kind: 'help' }
  | { kind: 'wrong'; message: string }

const caseNames = cases.map(({ name }) => name)
const indent = ' '.repeat(27)
const caseLines = [caseNames.slice(0, 7), caseNames.slice(7)]
  .map((names) => indent + names.join(', '))
  .join(',\n')

export const help = `Measures what the gateway costs beside nginx, on this machine, over loopback.

  npm run bench -- [options]

  --only LIST            parts to run, with commas between; all of them without this:
                           json, stream  CPU per call
                           first-token   delay of the first token at 100 streams
                           memory        5,000 slow streams; 500 callers that stop reading
                           failover      one of three channels fails, and heals
                           downloads     100 videos of 300 MB to slow and to stopped readers
                           poller        10,000 tasks in flight; a start with 100,000
                           pages         every list over a large log, on both stores
                           ledger        durable charges per second, on both stores
                           scaling       1, 2 and 4 gateways on one PostgreSQL
                           console       its pages over 1,000,000 requests and 100,000 tasks
                           scrape        one scrape of the metrics under full load
                           stall         how long other callers wait beside large bodies
                           hostile       the same beside requests that are hard to translate
                           translated    CPU per call where the upstream speaks another style
                           large         1,000 streams with requests of 500 KB
                           growth        CPU per call with more rows, tokens, models, channels
                           overload      three times as many calls as the channel has places for
                           batches       50,000 lines over kills; calls of others beside them
  --styles LIST          of the CPU figures: ${styles.join(', ')} (all);
                         chat always comes along, the others are compared with it
  --cases LIST           of the CPU figures, or all (${usualCases.join(', ')}):
${caseLines}
  --pairs LIST           of the translated calls, such as messages>chat, or all (four of them)
  --connections N        callers at once, one request at a time each (64; at most 2000)
  --seconds N            length of one slice (2; at most 60)
  --rounds N             slices per target and kind of call, interleaved (5; at most 20)
  --chunks-per-write N   stream events the fake upstream puts in one network write (10; 1 to 100)
  --tasks N              of the poller (10000; at most 50000); ten times as many at the start
  --rows N               of the log in pages (1000000; at most 20000000)
  --requests N           under the console (1000000; at most 5000000), and a tenth as many tasks
  --growth-rows LIST     of the log in growth, the smallest first (1000,1000000)
  --growth-tokens LIST   (100,10000,1000000)
  --growth-models LIST   (10,1000,10000)
  --growth-channels LIST of each model (1,8,64)
  --peers                Portkey and LiteLLM beside the gateway, installed from npm and PyPI into a
                         temp dir, and charges lost by a kill; alone, or with the parts of --only
  --gateway-cmd CMD      start CMD as the gateway instead of 'bin/gateway start'
  --json FILE            write the result as JSON too
  --strict               exit 1 if a limit is missed, a call fails or a charge is missing
  --help                 this text`

const flags = {
  connections: { type: 'string', default: '64' },
  seconds: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '5' },
  only: { type: 'string' },
  styles: { type: 'string' },
  cases: { type: 'string', default: usualCases.join(',') },
  pairs: { type: 'string', default: usualPairs.join(',') },
  'chunks-per-write': { type: 'string', default: '10' },
  tasks: { type: 'string', default: '10000' },
  rows: { type: 'string', default: '1000000' },
  requests: { type: 'string', default: '1000000' },
  'growth-rows': { type: 'string', default: '1000,1000000' },
  'growth-tokens': { type: 'string', default: '100,10000,1000000' },
  'growth-models': { type: 'string', default: '10,1000,10000' },
  'growth-channels': { type: 'string', default: '1,8,64' },
  peers: { type: 'boolean', default: false },
  'gateway-cmd': { type: 'string' },
  json: { type: 'string' },
  strict: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const maxByFlag = {
  connections: 2000,
  seconds: 60,
  rounds: 20,
  'chunks-per-write': 100,
  tasks: 50_000,
  rows: 20_000_000,
  requests: 5_000_000,
}

export function parseOptions(args: string[]): Parsed {
  try {
    const { values } = parseArgs({ args, options: flags })
    if (values.help) return { kind: 'help' }
    const count = (name: keyof typeof maxByFlag) => {
      const value = Number(values[name])
      const max = maxByFlag[name]
      if (Number.isInteger(value) && value >= 1 && value <= max) return value
      throw new Error(`--${name} must be a whole number from 1 to ${max}`)
    }
    const all = [...modes, ...parts]
    const only = values.only === undefined && values.peers ? [] : listOf('only', values.only, all)
    const named = listOf('styles', values.styles, styles)
    const options: Options = {
      connections: count('connections'),
      seconds: count('seconds'),
      rounds: count('rounds'),
      chunksPerWrite: count('chunks-per-write'),
      tasks: count('tasks'),
      rows: count('rows'),
      requests: count('requests'),
      modes: modes.filter((mode) => only.includes(mode)),
      styles: styles.filter((style) => style === 'chat' || named.includes(style)),
      cases: values.cases === 'all' ? caseNames : listOf('cases', values.cases, caseNames),
      pairs: values.pairs === 'all' ? allPairs : listOf('pairs', values.pairs, allPairs),
      growth: growthSizes(values),
      parts: [
        ...parts.filter((part) => only.includes(part)),
        ...(values.peers ? [peersPart] : []),
      ] as Part[],
      strict: values.strict,
      ...(values.json !== undefined && { jsonFile: values.json }),
      ...(values['gateway-cmd'] !== undefined && { gatewayCommand: values['gateway-cmd'] }),
    }
    return { kind: 'run', options }
  } catch (error) {
    return { kind: 'wrong', message: (error as Error).message }
  }
}

const growthSizes = (values: Record<`growth-${keyof Options['growth']}`, string>) => ({
  rows: sizesOf('growth-rows', values['growth-rows'], 20_000_000),
  tokens: sizesOf('growth-tokens', values['growth-tokens'], 2_000_000),
  models: sizesOf('growth-models', values['growth-models'], 20_000),
  channels: sizesOf('growth-channels', values['growth-channels'], 256),
})

/** Names with commas between; all of them if none were given. */
function listOf<T extends string>(
  flag: string,
  text: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (text === undefined) return known
  return text.split(',').map((name) => {
    const found = known.find((each) => each === name)
    if (found === undefined) throw new Error(`--${flag} takes ${known.join(', ')}`)
    return found
  })
}

/** Whole numbers with commas between; `none` for none. */
function sizesOf(flag: string, text: string, max: number): number[] {
  if (text === 'none') return []
  return text.split(',').map((part) => {
    const size = Number(part)
    if (Number.isInteger(size) && size >= 1 && size <= max) return size
    throw new Error(`--${flag} takes whole numbers from 1 to ${max} with commas between, or none`)
  })
}

// The command `gateway sandbox`: the simulator as a process of its own.
import { parseArgs } from 'node:util'
import { repeatedFlag } from '../src/lib/repeated-flag.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from './server.ts'
import type { Rates } from './statements/served-calls.ts'

/** EX_CONFIG: a setting is wrong and trying again will not help. */
const wrongSetting = 78

const usage = `Usage: gateway sandbox [FLAGS]

Runs the upstream simulator alone and prints the base address of each protocol.

Flags
  --port PORT  where it listens; 9090 if left out, 0 takes a free one
  --host HOST  127.0.0.1 if left out
  --key KEY    the key that callers must send; any if left out
  --rates MODEL=INPUT:OUTPUT,…
               dollars for a million tokens; it then gives statements of what it served
  --help       show this
`

function giveUp(why: string): never {
  console.error(`sandbox: ${why}`)
  process.exit(wrongSetting)
}

const flags = {
  port: { type: 'string', default: '9090' },
  host: { type: 'string', default: '127.0.0.1' },
  key: { type: 'string' },
  rates: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

function readOptions(args: string[]): SandboxOptions {
  try {
    const { values, tokens } = parseArgs({ args, options: flags, tokens: true })
    const repeated = repeatedFlag(tokens, flags)
    if (repeated !== undefined) giveUp(`--${repeated} is given twice, and it takes one value.`)
    if (values.help === true) {
      process.stdout.write(usage)
      process.exit(0)
    }
    const port = Number(values.port)
    if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
      giveUp(`--port must be a number from 0 to 65535, not '${values.port}'.`)
    }
    if (values.key === '') giveUp('--key must not be empty.')
    return {
      ...{ port, host: values.host },
      ...(values.key === undefined ? {} : { key: values.key }),
      ...(values.rates === undefined ? {} : { rates: ratesIn(values.rates) }),
    }
  } catch (error) {
    return giveUp(firstSentence(error))
  }
}

function ratesIn(text: string): Rates {
  const pairs = text.split(',').map((part) => {
    const [, model, input, output] = /^([^=]+)=(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(part) ?? []
    if (model === undefined || input === undefined || output === undefined) {
      giveUp(`--rates takes MODEL=INPUT:OUTPUT with commas between them, not '${part}'.`)
    }
    return [model, { input, output }] as const
  })
  return Object.fromEntries(pairs)
}

/** Bun and Node add advice after the first sentence; the first one names the flag. */
function firstSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `${message.split(/\.\s|\n/)[0]?.replace(/\.$/, '')}.`
}

function start(options: SandboxOptions): Sandbox {
  try {
    return startSandbox(options)
  } catch (error) {
    const { host, port } = options
    return giveUp(`--port or --host: cannot listen on ${host}:${port} (${firstSentence(error)})`)
  }
}

const sandbox = start(readOptions(process.argv.slice(2)))

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void sandbox.stop().then(() => process.exit(0))
  })
}

for (const [protocol, base] of Object.entries(sandbox.protocols)) console.log(`${protocol} ${base}`)
console.log(`ready http://localhost:${sandbox.port}`)

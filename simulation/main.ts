// Runs many worlds, one after the other, each from its seed. Exits with 1 and the seed when an invariant breaks;
// the same seed breaks it again.
import { bugs } from './bugs/bugs.ts'
import { removeCopy, tryBug } from './bugs/try-bug.ts'
import { makeTemplate } from './gateway/database.ts'
import { loadOwnCalls } from './gateway/own-calls.ts'
import { type Options, parseOptions } from './options.ts'
import { runSeed, type Verdict } from './run-seed.ts'
import { takeOver } from './world/globals.ts'
import { partsText } from './world/parts.ts'

/** Those of this process, before a world replaces them. */
const [realNow, realSoon] = [performance.now.bind(performance), setImmediate]
const linesShown = 80

async function main(): Promise<number> {
  const options = parseOptions(Bun.argv.slice(2))
  if ('problem' in options) {
    process.stderr.write(`simulate: ${options.problem}\n`)
    return 2
  }
  return options.bugs.length > 0 ? findBugs(options) : simulate(options)
}

async function simulate(options: Options): Promise<number> {
  const template = await makeTemplate()
  const ownCalls = await loadOwnCalls(options.parts)
  takeOver()
  // Dead processes leave rejected promises behind.
  process.on('unhandledRejection', () => {})
  const startMs = realNow()
  const total = { tasks: 0, events: 0, virtualMs: 0, deaths: new Map<string, number>() }
  const { from = 1, seeds, tasks, gateways, parts, heavy } = options
  const all = [...options.first, ...Array.from({ length: seeds }, (_, at) => from + at)]
  for (const [at, seed] of all.entries()) {
    const onLine = options.verbose ? { onLine: (line: string) => print(line) } : {}
    const verdict = runSeed({ seed, template, tasks, gateways, parts, heavy, ownCalls, ...onLine })
    if (verdict.violations.length > 0) {
      print(reportOf(verdict, options))
      print(`failed after ${at + 1} seeds`)
      return 1
    }
    if (options.digests) print(`seed ${seed} digest ${verdict.digest}`)
    total.tasks += verdict.tasks
    total.events += verdict.events
    total.virtualMs += verdict.virtualMs
    for (const why of verdict.deaths) total.deaths.set(why, (total.deaths.get(why) ?? 0) + 1)
    await new Promise<void>((go) => realSoon(go))
  }
  const byCause = [...total.deaths].sort(([, one], [, other]) => other - one)
  if (options.deaths) for (const [why, times] of byCause) print(`${times} ${why}`)
  const deaths = byCause.reduce((sum, [, times]) => sum + times, 0)
  const seconds = ((realNow() - startMs) / 1000).toFixed(1)
  const hours = Math.round(total.virtualMs / 3_600_000)
  print(
    `${all.length} seeds, ${total.tasks} tasks, ${deaths} deaths, ${total.events} events, ` +
      `${hours} h of their time in ${seconds} s: no violation`,
  )
  return 0
}

const print = (line: string) => process.stdout.write(`${line}\n`)

/** 0 when every bug was found. */
async function findBugs(options: Options): Promise<number> {
  let missed = 0
  for (const bug of bugs.filter(({ name }) => options.bugs.includes(name))) {
    const { name, foundBySeed, what } = await tryBug(bug, options)
    if (foundBySeed === undefined) missed++
    const verdict = foundBySeed === undefined ? 'NOT FOUND' : `found by seed ${foundBySeed}`
    print(`${name}: ${verdict}\n  ${what}`)
  }
  removeCopy()
  return missed === 0 ? 0 : 1
}

function reportOf({ seed, digest, violations, lines }: Verdict, options: Options): string {
  const trace = options.verbose ? [] : [...lines.slice(-linesShown), '']
  const gateways = options.gateways === undefined ? '' : ` --gateways ${options.gateways}`
  const parts = options.parts === undefined ? '' : ` --parts ${partsText(options.parts)}`
  const shape = `${gateways}${parts}${options.heavy ? ' --heavy' : ''}`
  const again = `--seeds 1 --from ${seed} --tasks ${options.tasks}${shape} --verbose`
  return [
    ...trace,
    `seed ${seed} digest ${digest} FAILED`,
    ...violations.map((violation) => `  ${violation}`),
    `replay: npm run simulate -- ${again}`,
  ].join('\n')
}

process.exitCode = await main()
process.exit()

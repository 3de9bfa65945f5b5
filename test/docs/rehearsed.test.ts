// Commands of the documentation that cannot be run here: container engines and clusters are not here,
// and the whole of the tests and of the bench takes too long. What such a command names must be there,
// and whatever reads its options must take them.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { parse, stringify } from 'yaml'
import { parseOptions as parseBench } from '../../bench/options.ts'
import { parseOptions as parseSimulation } from '../../simulation/options.ts'
import { commands, elsewhere } from '../../src/cli/commands.ts'
import { parseLine } from '../../src/cli/terminal/parse-line.ts'
import { readConfigFile } from '../../src/config/file.ts'
import { fileIn, kindOf } from '../support/docs/fences.ts'
import { fencesOf, pages } from '../support/docs/pages.ts'
import { rehearse, type Told } from '../support/docs/rehearse.ts'
import { root } from '../support/gateway.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { version, scripts } = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
}
const words = [...commands.map(({ path }) => path[0]), ...elsewhere.map(({ name }) => name)]
const fences = pages.flatMap((page) =>
  fencesOf(page)
    .filter((fence) => kindOf(fence) === 'sh rehearse')
    .map((fence) => ({ ...fence, page })),
)
const values = fencesOf('docs/run/deploy.md')
  .filter((fence) => kindOf(fence) === 'yaml file')
  .map(fileIn)

const isThere = (path: string): boolean => existsSync(join(root, path))
const canRun = (path: string): boolean => (statSync(join(root, path)).mode & 0o111) === 0o111

/** What is wrong with what a program was told; undefined if nothing is. */
const judges: Readonly<Record<string, (words: Told) => unknown>> = {
  npm: judgeNpm,
  npx: judgeGateway,
  docker: judgeDocker,
  kubectl: judgeSecret,
  helm: judgeHelm,
  'scripts/package': (words) =>
    canRun('scripts/package') && words.length === 1 ? undefined : words.join(' '),
  '.ci/run': () => (canRun('.ci/run') ? undefined : 'it cannot be run'),
  'scripts/services'([word = '']) {
    const isKnown = new RegExp(`^  ${word}\\)`, 'm').test(read('scripts/services'))
    return canRun('scripts/services') && isKnown ? undefined : word
  },
}

/** A command for a provider that is not here. */
function judgeGateway([name, ...line]: Told): unknown {
  if (name !== 'gateway') return name
  // What the command line leaves to another program.
  if (line.length === 1 && elsewhere.some((each) => each.name === line[0])) return undefined
  try {
    return parseLine(line, commands, elsewhere).kind === 'help' ? line : undefined
  } catch (error) {
    return (error as Error).message
  }
}

function judgeNpm([word = '', ...more]: Told): unknown {
  if (word === 'install') return more.length === 0 ? undefined : more
  const name = word === 'run' ? (more[0] ?? '') : word
  if (scripts[name] === undefined) return `there is no script '${name}'`
  const at = more.indexOf('--')
  const given = at === -1 ? [] : more.slice(at + 1)
  if (name === 'bench') {
    const parsed = parseBench(given)
    return parsed.kind === 'wrong' ? parsed.message : undefined
  }
  if (name === 'simulate') {
    const options = parseSimulation(given)
    return 'problem' in options ? options.problem : undefined
  }
  return given.find((path) => name !== 'test' || !isThere(path))
}

function judgeDocker([word, ...more]: Told): unknown {
  if (word === 'build') {
    const [flag, image, folder] = more
    const isOurs = flag === '-t' && image === `model-gateway:${version}` && folder === '.'
    return isOurs && isThere('Dockerfile') ? undefined : more
  }
  const [flag, file = '', action, ...rest] = more
  if (word !== 'compose' || flag !== '-f' || !isThere(file)) return more
  const { services } = parse(read(file), { merge: true }) as { services: object }
  if (action === 'up') return rest.join() === '-d' ? undefined : rest
  const [service, program, command] = action === 'kill' ? [rest[2], '/gateway', 'start'] : rest
  const isKnown = (service ?? '') in services && program === '/gateway' && words.includes(command!)
  return isKnown && (action === 'exec' || rest.slice(0, 2).join() === '-s,HUP') ? undefined : more
}

const settings = read('src/config/index.ts')

/** The chart's secret: settings, and what the configuration takes from the environment. */
function judgeSecret([create, what, kind, name, ...literals]: Told): unknown {
  const { secretName } = parse(values[0]!.text) as { secretName: string }
  if ([create, what, kind, name].join() !== `create,secret,generic,${secretName}`) return name
  return literals.find((literal) => {
    const [, variable = ''] = /^--from-literal=(\w+)=.+$/.exec(literal) ?? []
    return !settings.includes(`'${variable}'`) && !values[0]!.text.includes(`\${${variable}}`)
  })
}

function judgeHelm([install, release = '', chart = '', flag, file]: Told): unknown {
  const { name } = parse(read(join(chart, 'Chart.yaml'))) as { name: string }
  if ([install, release, flag, file].join() !== ['install', name, '-f', values[0]!.path].join()) {
    return file
  }
  const given = parse(values[0]!.text) as { config: object }
  const schema = JSON.parse(read(join(chart, 'values.schema.json')))
  const ajv = new Ajv({ strict: false, allErrors: true })
  const merged = { ...parse(read(join(chart, 'values.yaml'))), ...given }
  if (!ajv.validate(schema, merged)) return ajv.errorsText()
  const env = { CLOUD_A_KEY: 'any-upstream-key' }
  const { problems } = readConfigFile(stringify(given.config), 'gateway.yaml', env)
  return problems[0]?.message
}

describe('a command that is not for here', () => {
  test.each(fences)('$page, line $line: names what is there', ({ text }) => {
    const { code, said, told } = rehearse(text)
    expect({ code, said }).toMatchObject({ code: 0 })
    const wrong = told.flatMap(([program = '', ...rest]) => {
      const problem = judges[program]!(rest)
      return problem === undefined ? [] : [`${program} ${rest.join(' ')}: ${String(problem)}`]
    })
    expect(wrong).toEqual([])
    // Each line of it is one command at least; none may have got lost.
    const lines = text.replaceAll('\\\n', '').trim().split('\n')
    expect(told.length).toBeGreaterThanOrEqual(lines.length)
    for (const [variable] of text.matchAll(/\bTEST_\w+/g)) {
      const files = told.flat().filter((word) => word.endsWith('.test.ts'))
      expect(files.some((file) => read(file).includes(variable))).toBe(true)
    }
  })

  test('starts the gateway by the command that all tests start it by', () => {
    expect(fences.length).toBeGreaterThan(8)
    expect(scripts['start']).toBe('exec bin/gateway start')
  })
})

// The shape of the house, checked: which folder may import which, who reads the environment, who
// speaks SQL. The rules are pure functions over file texts, so that the cases below can show each of
// them failing. Fences with an allowance (sizes, circles, old words, …) are in test/structure/.
import { describe, expect, test } from 'bun:test'
import { posix } from 'node:path'
import allowances from './structure/allowances.json'
import { ownFormats } from './structure/formats.ts'
import { excess, measure } from './structure/measure.ts'
import { roomProblem } from './structure/rooms.ts'
import {
  importsOf,
  isTest,
  read,
  readSources,
  resolveImport,
  type SourceFile,
} from './structure/sources.ts'

const everything = '*'

// Folder -> what its code may import besides itself. `engine` reaches providers by the registry
// only. The command line and the console speak HTTP, so they import nothing that does the work.
const arrows: Readonly<Record<string, readonly string[]>> = {
  'src/main': [everything],
  'src/app': [everything],
  'src/start': [everything],
  'src/start/signals': [],
  'src/start/lifecycle': ['src/config', 'src/contract', 'src/lib', 'src/start/signals.ts'],
  'src/start/listen': ['src/app.ts', 'src/config', 'src/contract', 'src/http'],
  'src/start/metrics-route': ['src/lib', 'src/engine'],
  'src/start/keys': ['src/config', 'src/contract', 'src/lib'],
  'src/start/banner': ['src/engine'],
  'src/start/media-settings': ['src/config', 'src/contract', 'src/lib', 'src/engine', 'src/media'],
  'src/start/console-files': ['src/contract', 'src/lib', 'src/http', 'console/build.ts'],
  'src/process': [everything],
  'src/process/pool-metrics': ['src/lib'],
  'src/ops': [everything],
  'src/demo': [everything],
  'src/ops/check': ['src/config', 'src/ops/doctor/offer.ts'],
  'src/guide': ['src/contract', 'src/http', 'src/lib', 'src/openapi'],
  'src/config': ['src/contract', 'src/lib'],
  'src/lib': [],
  'src/contract': [
    'src/contract/config-schema/names.ts',
    'src/lib/ensure.ts',
    'src/lib/text/decimal.ts',
    'src/lib/text/edit-distance.ts',
  ],
  // The text of a public price file becomes a list; reads no file itself.
  'src/contract/price-sources': ['src/contract', 'src/lib'],
  // The only lists of names are the registries.
  'src/contract/config-schema/names': [
    'src/contract',
    'src/surfaces/index.ts',
    'src/providers/index.ts',
    'src/providers/presets/index.ts',
  ],
  'src/store': ['src/contract', 'src/lib'],
  // Bytes and names: no task, no money, no caller.
  'src/media': ['src/lib'],
  'src/catalog': ['src/contract', 'src/lib', 'src/store'],
  'src/billing': ['src/contract', 'src/lib', 'src/store'],
  'src/providers': ['src/contract', 'src/lib', 'src/styles'],
  // The thread that translates has the styles of all.
  'src/providers/translation-worker': ['src/contract', 'src/lib', 'src/styles', 'src/providers'],
  'src/engine': [
    'src/contract',
    'src/lib',
    'src/store',
    'src/catalog',
    'src/billing',
    'src/media',
    'src/providers/index.ts',
  ],
  'src/http': ['src/contract', 'src/lib'],
  // What is known of the wire shapes of text, for both sides of the gateway.
  'src/styles': ['src/contract', 'src/lib'],
  // They ask the engine through the port in src/contract/caller-api.ts.
  'src/surfaces': ['src/contract', 'src/lib', 'src/http', 'src/styles'],
  'src/admin': [
    'src/admin/schema',
    'src/contract',
    'src/lib',
    'src/http',
    'src/store',
    'src/catalog',
    'src/billing',
    'src/engine',
  ],
  // Files named `…schema.ts`: what the admin API takes and answers, for all who speak to it.
  'src/admin/schema': ['src/contract'],
  // Descriptions only: what it imports of these are lists, and the schemas that check requests.
  'src/openapi': [
    'src/contract',
    'src/lib',
    'src/http',
    'src/surfaces',
    'src/admin/operation.ts',
    'src/admin/routes.ts',
  ],
  'src/cli': ['src/contract', 'src/lib', 'src/admin/schema'],
  sandbox: ['src/contract', 'src/lib'],
  // Of schemas, only their types; and tables of plain data.
  console: [
    'src/admin/schema',
    'src/contract/config-schema/profile-fields.ts',
    'src/contract/catalog.ts',
  ],
  // A second way to run all of it, with a database, a wire and callers of its own.
  simulation: [everything],
}

/** Folders whose members are strangers to each other and meet only in their index.ts. */
const separate = ['src/providers', 'src/surfaces', 'src/styles']
/** What members of a separate folder have in common; it knows none of them. */
const shared = [
  'src/surfaces/common/',
  'src/surfaces/text/',
  'src/surfaces/media/',
  'src/styles/common/',
  'src/providers/common/',
  'src/providers/text/',
  'src/providers/calls/',
  'src/providers/tasks/',
]
const sqlPackages = ['kysely', 'pg', 'bun:sqlite']
const sqlRooms = ['src/store', 'simulation']

const isAdminSchema = (path: string) => /^src\/admin\/(.+-|.+\/)?schema\.ts$/.test(path)

/** The row of the table for a file: that of its own name, or of the nearest folder that has one. */
function roomOf(path: string): string {
  if (isAdminSchema(path)) return 'src/admin/schema'
  let room = path.replace(/(\.test)?\.tsx?$/, '')
  while (room.includes('/') && arrows[room] === undefined) room = posix.dirname(room)
  return room
}

/** src/providers/chat/stream.ts -> src/providers/chat; undefined outside the separate folders. */
function memberOf(path: string): string | undefined {
  const room = roomOf(path)
  if (!separate.includes(room)) return undefined
  const name = path.slice(room.length + 1).split('/')[0]!
  return `${room}/${name.replace(/(\.test)?\.tsx?$/, '')}`
}

/** Where members of a separate folder meet. */
const isRegistry = (path: string) => /\/(index|call-styles)$/.test(memberOf(path) ?? '')

function arrowProblem(from: string, to: string): string | undefined {
  const room = roomOf(from)
  const own = memberOf(from)
  const other = memberOf(to)
  const allowed = arrows[room]
  if (allowed === undefined) return 'is in a folder that the table does not know'
  if (allowed.includes(everything)) return undefined
  if (room === roomOf(to) && shared.some((each) => to.startsWith(each))) return undefined
  if (isTest(from)) {
    const crosses = own !== undefined && other !== undefined && own !== other && !isRegistry(to)
    return crosses && !isRegistry(from) ? `crosses over to ${other}` : undefined
  }
  if (to === 'package.json') return undefined
  if (room === roomOf(to)) return own === other || isRegistry(from) ? undefined : `imports ${to}`
  const fits = (rule: string) => to === rule || to.startsWith(`${rule}/`) || rule === roomOf(to)
  return allowed.some(fits) ? undefined : `imports ${to}`
}

function packageProblem(file: SourceFile, name: string, runtime: readonly string[]) {
  if (isTest(file.path)) return undefined
  const room = roomOf(file.path)
  const parts = name.split('/')
  const bare = name.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
  if (sqlPackages.includes(bare) && !sqlRooms.includes(room)) return `speaks SQL through ${bare}`
  const builtin = /^(node:|bun:|bun$)/.test(name)
  if (builtin && room === 'src/contract') return `does I/O through ${name}`
  if (builtin || runtime.includes(bare)) return undefined
  return `imports ${bare}, which is not a run-time dependency`
}

const environment = [
  /\b(process|Bun|import\.meta)\s*\??\.\s*env\b/,
  /\{[^}]*\benv\b[^}]*\}\s*=\s*(process|Bun)\b/,
  /import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"](node:)?(process|bun)['"]/,
]

/** Lines of code: a comment may speak of what the code may not do. */
const codeOf = (text: string) => text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')

function readsEnvironment(file: SourceFile): boolean {
  // src/main.ts hands all of it on to itself, and reads none of our settings.
  const files = ['src/config/index.ts', 'src/main.ts']
  const entitled = files.includes(file.path) || roomOf(file.path) === 'src/cli'
  if (entitled || isTest(file.path)) return false
  return environment.some((pattern) => pattern.test(codeOf(file.text)))
}

// By name: amounts end in Nanos, and the formatter puts spaces round an operator of two sides. An
// amount under another name gets past this; it is a fence, not a proof.
const moneyArithmetic = /Nanos\b[!)\]]* [-+*/%]=? |[\w)\]] [-+*/%]=? [([]*[\w$.!?]*Nanos\b/
/** The simulation counts on its own, to hold the gateway against it. */
const moneyRooms = ['src/billing', 'src/contract', 'simulation']

function countsMoney(file: SourceFile): boolean {
  const entitled = moneyRooms.includes(roomOf(file.path)) || file.path === 'src/lib/text/decimal.ts'
  return !entitled && !isTest(file.path) && moneyArithmetic.test(codeOf(file.text))
}

function findProblems(files: readonly SourceFile[], runtime: readonly string[]): string[] {
  const problems: string[] = []
  for (const file of files) {
    const report = (problem: string | undefined) => {
      if (problem !== undefined) problems.push(`${file.path} ${problem}`)
    }
    for (const name of importsOf(file)) {
      if (!name.startsWith('.')) report(packageProblem(file, name, runtime))
      else {
        const target = resolveImport(file.path, name)
        report(arrowProblem(file.path, target))
        report(roomProblem(file.path, target))
      }
    }
    if (arrows[roomOf(file.path)] === undefined) report('is in no folder of the table')
    if (readsEnvironment(file)) report('reads the environment; only src/config/index.ts may')
    if (countsMoney(file)) report('does arithmetic on money; only billing may')
    const lines = file.text.trimEnd().split('\n')
    const first = lines[0]?.startsWith('#!') ? lines[1] : lines[0]
    if (!isTest(file.path) && !/^\/[/*]/.test(first ?? '')) report('does not open with a comment')
  }
  return problems
}

const runtimePackages = Object.keys(JSON.parse(read('package.json')).dependencies)

describe('the sources', () => {
  const files = readSources().filter(({ path }) => !/^(bench|scripts)\//.test(path))

  test('keep to the table of arrows, and to the rules for files', () => {
    expect(findProblems(files, runtimePackages)).toEqual([])
  })

  test('have no more of what is to go than is allowed', () => {
    expect(excess(measure(), allowances)).toEqual([])
  })

  test('format numbers, money and times of the console in one place', () => {
    expect(files.flatMap(ownFormats)).toEqual([])
  })

  test('are really what the rules look at', () => {
    const price = files.find((file) => file.path === 'src/contract/price.ts')
    expect(price).toBeDefined()
    expect(importsOf(price!)).toEqual(['./catalog.ts'])
  })
})

/** Problems of one made-up file; its opening comment is supplied. */
const problemsOf = (path: string, ...lines: string[]) =>
  findProblems([{ path, text: ['// A file.', ...lines].join('\n') }], ['hono', 'pg', '@scope/part'])

const importOf = (from: string, to: string) =>
  `import '${posix.relative(posix.dirname(from), to).replace(/^(?!\.)/, './')}'`

describe('the rules find the forbidden arrow from', () => {
  const forbidden: [from: string, to: string][] = [
    ['src/lib/a.ts', 'src/contract/b.ts'],
    ['src/contract/a.ts', 'src/lib/crypto/ids.ts'],
    ['src/store/a.ts', 'src/billing/b.ts'],
    ['src/catalog/a.ts', 'src/billing/b.ts'],
    ['src/billing/a.ts', 'src/catalog/b.ts'],
    ['src/providers/x/a.ts', 'src/store/b.ts'],
    ['src/providers/x/a.ts', 'src/providers/y/b.ts'],
    ['src/providers/x/a.ts', 'src/providers/index.ts'],
    ['src/engine/a.ts', 'src/providers/x/b.ts'],
    ['src/engine/a.ts', 'src/surfaces/x/b.ts'],
    ['src/http/a.ts', 'src/engine/b.ts'],
    ['src/surfaces/x/a.ts', 'src/surfaces/y/b.ts'],
    ['src/surfaces/x/a.ts', 'src/billing/b.ts'],
    ['src/surfaces/x/a.ts', 'src/engine/b.ts'],
    ['src/surfaces/x/a.ts', 'src/providers/index.ts'],
    ['src/admin/a.ts', 'src/surfaces/x/b.ts'],
    ['src/cli/a.ts', 'src/store/b.ts'],
    ['src/config/file.ts', 'src/store/b.ts'],
    ['src/http/a.ts', 'src/config/index.ts'],
    ['sandbox/a.ts', 'src/engine/b.ts'],
    ['console/a.tsx', 'src/admin/b.ts'],
    ['src/http/a.ts', 'test/b.ts'],
    ['src/surfaces/x/a.test.ts', 'src/surfaces/y/b.ts'],
    ['src/providers/x/a.test.ts', 'src/surfaces/y/b.ts'],
    ['src/store/log/a.ts', 'src/store/proof/seals.ts'],
    ['src/store/tasks/a.ts', 'src/store/ledger/b.ts'],
    ['src/engine/routing/a.ts', 'src/engine/tasks/b.ts'],
    ['src/engine/calls/a.ts', 'src/engine/tasks/poll/b.ts'],
    ['src/lib/http/a.ts', 'src/lib/net/b.ts'],
    ['console/lib/a.ts', 'console/pages/b.ts'],
  ]
  test.each(forbidden)('%s to %s', (from, to) => {
    const verb = from.includes('.test.') ? 'crosses over to' : 'imports'
    const target = from.includes('.test.') ? 'src/surfaces/y' : to
    expect(problemsOf(from, importOf(from, to))).toEqual([`${from} ${verb} ${target}`])
  })

  const spellings: [spelling: string][] = [
    ["import { b } from '../store/b.ts'\nb()"],
    ["import type { B } from '../store/b.ts'"],
    ["import type B from '../store/b.ts'"],
    ["import type * as B from '../store/b.ts'"],
    ["import { type B } from '../store/b.ts'"],
    ["import {\n  type A,\n  type B,\n} from '../store/b.ts'"],
    ["import { type A as B, c } from '../store/b.ts'\nc()"],
    ["export type { B } from '../store/b.ts'"],
    ["export * from '../store/b.ts'"],
    ["const b = await import('../store/b.ts')"],
    ["type B = import('../store/b.ts').B"],
    ["new Worker(new URL('../store/b.ts', import.meta.url))"],
  ]
  test.each(spellings)('http to store, written %j', (spelling) => {
    expect(problemsOf('src/http/a.ts', spelling)).toEqual(['src/http/a.ts imports src/store/b.ts'])
  })
})

describe('the rules find, of other kinds,', () => {
  const bad: [path: string, line: string, problem: string][] = [
    ['src/utils/a.ts', '', 'is in no folder of the table'],
    ['src/stuff.ts', '', 'is in no folder of the table'],
    ['src/contract/a.ts', "import 'node:fs'", 'does I/O through node:fs'],
    ['src/admin/a.ts', "import pg from 'pg'\nf(pg)", 'speaks SQL through pg'],
    ['src/billing/a.ts', "import 'bun:sqlite'", 'speaks SQL through bun:sqlite'],
    ['src/http/a.ts', "import 'other/x'", 'imports other, which is not a run-time dependency'],
    ['src/http/a.ts', "import '@s/x/y'", 'imports @s/x, which is not a run-time dependency'],
    [
      'src/engine/a.ts',
      'f(process.env.HOME)',
      'reads the environment; only src/config/index.ts may',
    ],
    ['sandbox/a.ts', 'f(Bun.env)', 'reads the environment; only src/config/index.ts may'],
    [
      'src/app.ts',
      'const { env } = process',
      'reads the environment; only src/config/index.ts may',
    ],
    ['src/admin/a.ts', 'f(a + row.chargeNanos)', 'does arithmetic on money; only billing may'],
    ['src/admin/a.ts', 'totalNanos += a', 'does arithmetic on money; only billing may'],
    ['src/store/a.ts', 'f(x.priceNanos * 2n)', 'does arithmetic on money; only billing may'],
  ]
  test.each(bad)('in %s: %j', (path, line, problem) => {
    expect(problemsOf(path, line)).toEqual([`${path} ${problem}`])
  })

  test('an imported environment', () => {
    expect(problemsOf('src/app.ts', "import { env } from 'node:process'\nf(env)")).toEqual([
      'src/app.ts reads the environment; only src/config/index.ts may',
    ])
  })

  test('a file without an opening comment', () => {
    expect(findProblems([{ path: 'src/lib/a.ts', text: 'f()\n' }], [])).toEqual([
      'src/lib/a.ts does not open with a comment',
    ])
  })
})

describe('the rules let pass', () => {
  const allowed: [from: string, to: string][] = [
    ['src/contract/a.ts', 'src/lib/ensure.ts'],
    ['src/store/a.ts', 'src/store/migrations/b.ts'],
    ['src/providers/x/a.ts', 'src/providers/x/b.ts'],
    ['src/providers/index.ts', 'src/providers/x/a.ts'],
    ['src/surfaces/index.ts', 'src/surfaces/x/a.ts'],
    ['src/engine/a.ts', 'src/providers/index.ts'],
    ['src/surfaces/x/a.ts', 'src/http/b.ts'],
    ['src/surfaces/x/a.test.ts', 'src/store/b.ts'],
    ['src/config/index.ts', 'src/config/file.ts'],
    ['src/start/gateway.ts', 'sandbox/server.ts'],
    ['src/cli/a.ts', 'package.json'],
    ['src/store/log/a.ts', 'src/store/sql/cursor.ts'],
    ['src/store/log/a.ts', 'src/store/schema.ts'],
    ['src/store/index.ts', 'src/store/log/a.ts'],
    ['src/engine/tasks/poll/a.ts', 'src/engine/tasks/create/b.ts'],
  ]
  test.each(allowed)('the arrow from %s to %s', (from, to) => {
    expect(problemsOf(from, importOf(from, to))).toEqual([])
  })

  const good: [path: string, line: string][] = [
    ['src/config/index.ts', 'f(process.env)'],
    ['src/cli/a.ts', 'f(process.env.GATEWAY_URL)'],
    ['src/http/a.ts', '// process.env is not read here'],
    ['src/store/a.ts', "import pg from 'pg'\nf(pg)"],
    ['src/billing/a.ts', 'f(aNanos - bNanos)'],
    ['src/admin/a.ts', 'f(aNanos < bNanos, -cNanos)'],
    ['src/http/a.ts', "import 'hono/body-limit'"],
    ['src/http/a.ts', "import '@scope/part/x'"],
    ['src/http/a.ts', 'export type A<T> = T\nfunction f() {\n  type B<T> = T\n}'],
    ['src/http/a.ts', `const s = "import '../store/b.ts'"`],
  ]
  test.each(good)('in %s: %j', (path, line) => {
    expect(problemsOf(path, line)).toEqual([])
  })
})

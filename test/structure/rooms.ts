// Which part of a folder may import which other part of it: the import table inside the large folders. A
// part may always import itself and the files that lie directly in the folder; those may import all parts.
// What is not listed is not restricted.
import { isTest } from './sources.ts'

type Parts = Readonly<Record<string, readonly string[]>>

const nothing: readonly string[] = []

export const rooms: Readonly<Record<string, Parts>> = {
  'src/store': {
    sql: nothing,
    rows: nothing,
    catalog: ['sql'],
    deliveries: ['rows', 'sql', 'log/ids.ts'],
    tasks: ['sql', 'deliveries/queue.ts'],
    proof: ['rows', 'sql', 'ledger/entries.ts'],
    log: ['sql', 'dialects/health.ts'],
    migrations: ['rows', 'sql', 'dialects/errors.ts', 'ledger/entries.ts', 'proof/receipts.ts'],
    ledger: ['rows', 'sql', 'proof', 'tasks', 'log/ids.ts', 'deliveries/queue.ts'],
    maintenance: ['sql', 'dialects', 'tasks', 'log/partitions.ts'],
    dialects: [
      'rows',
      'sql',
      'migrations',
      'log',
      'proof',
      'ledger/credit-leases.ts',
      'maintenance/gateways.ts',
    ],
  },
  'src/engine': {
    catalog: nothing,
    telemetry: ['admission/known-model.ts', 'routing'],
    routing: ['calls/clean-error.ts', 'telemetry'],
    admission: ['calls', 'routing', 'telemetry'],
    calls: ['admission', 'books', 'routing', 'telemetry', 'tasks/retry-write.ts'],
    callbacks: ['results', 'routing', 'telemetry'],
    notices: ['callbacks', 'routing', 'telemetry'],
    books: ['calls', 'catalog', 'tasks', 'telemetry'],
    results: ['books', 'calls', 'tasks', 'routing', 'telemetry', 'admission'],
    tasks: ['admission', 'books', 'calls', 'results', 'routing', 'telemetry', 'callbacks'],
  },
  'src/billing': {
    leases: nothing,
    credit: ['leases'],
    budgets: ['leases'],
    reconciliation: nothing,
    prices: ['bills/bill.ts'],
    bills: ['proof/receipt.ts', 'proof/signing-keys.ts', 'proof/settled-sums.ts'],
    proof: ['bills/bill.ts', 'bills/read-bill.ts'],
  },
  'src/lib': {
    crypto: nothing,
    http: nothing,
    // Its thread measures sound.
    json: ['audio/measure.ts'],
    redact: nothing,
    telemetry: nothing,
    text: nothing,
    net: ['http'],
  },
  'src/contract': { 'config-schema': ['budgets', 'tags', 'notices'] },
  'src/admin': {
    people: nothing,
    invitations: ['people'],
    oidc: ['people'],
    notices: nothing,
    money: ['catalog/price-schema.ts', 'people/guess-limits.ts'],
    tasks: nothing,
    catalog: nothing,
    channels: ['catalog'],
    closing: ['money'],
    months: ['money'],
    'price-sources': ['catalog/read-aside.ts'],
    traffic: [
      'catalog/prices.ts',
      'catalog/price-schema.ts',
      'money/accounts.ts',
      'money/account-schema.ts',
      'tasks',
    ],
    system: ['catalog', 'money', 'tasks', 'traffic'],
  },
  console: {
    components: ['lib', 'pages'],
    lib: ['components/snippet.ts'],
  },
}

const within = (path: string, rule: string): boolean => path === rule || path.startsWith(`${rule}/`)

export function roomProblem(from: string, to: string): string | undefined {
  if (isTest(from)) return undefined
  const room = Object.keys(rooms).find((each) => within(from, each) && within(to, each))
  if (room === undefined) return undefined
  const [part = '', ...rest] = from.slice(room.length + 1).split('/')
  const target = to.slice(room.length + 1)
  const allowed = rest.length === 0 ? undefined : rooms[room]![part]
  if (allowed === undefined || !target.includes('/') || within(target, part)) return undefined
  return allowed.some((rule) => within(target, rule)) ? undefined : `imports ${to}`
}

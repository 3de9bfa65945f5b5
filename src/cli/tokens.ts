// gateway token: callers' credentials. The only place that ever prints a secret, and only once.
import { type Command, type Flags, misuse, pageFlags } from './command.ts'
import { list, segment } from './legacy-list.ts'
import type { Line } from './line.ts'
import { cell, column, nameOf, type Row, record, rowOf } from './show.ts'

const limitNames = ['rpm', 'tpm', 'concurrency'] as const

const permissionFlags: Flags = {
  models: { value: 'A,B*', summary: 'names, or prefixes ending in *; quote the *' },
  rpm: { value: 'N', summary: 'requests per minute' },
  tpm: { value: 'N', summary: 'counted tokens per minute' },
  concurrency: { value: 'N', summary: 'calls at the same time' },
  'allowed-ips': { value: 'A,B', summary: 'addresses or ranges calls may come from' },
  'expires-at': { value: 'TIME', summary: 'such as 2027-01-01T00:00:00Z' },
}

/** Absent flags stay undefined and so stay out of the JSON. */
function permissions(line: Line): Row {
  const limits: Record<string, number> = {}
  for (const name of limitNames) {
    const limit = line.count(name)
    if (limit !== undefined) limits[name] = limit
  }
  return {
    models: line.list('models'),
    limits: Object.keys(limits).length === 0 ? undefined : limits,
    allowed_ips: line.list('allowed-ips'),
    expires_at: line.time('expires-at'),
  }
}

function stateOf(row: Row): string {
  if (row['disabled'] === true) return 'disabled'
  const expiresAt = row['expires_at']
  return typeof expiresAt === 'string' && Date.parse(expiresAt) < Date.now() ? 'expired' : 'active'
}

/** Everything but the secret, should an answer ever hold one. */
const shown = (answer: unknown): string => record(rowOf(answer), ['token'])

export const tokenCommands: readonly Command[] = [
  {
    path: ['token', 'create'],
    args: [],
    summary: 'make a token for an account and show its secret once',
    flags: {
      account: { value: 'ID|NAME', required: true, summary: 'who pays' },
      name: { value: 'NAME', required: true, summary: 'what to call it' },
      ...permissionFlags,
    },
    async run({ line, admin }) {
      const body = {
        account: line.text('account'),
        name: line.text('name'),
        ...permissions(line),
      }
      const answer = await admin.ask('POST', '/tokens', { body })
      const secret = cell(rowOf(answer)['token'])
      const text = `${secret}\n\nKeep it now: this secret is shown only once.\n\n${shown(answer)}`
      return { answer, text }
    },
  },
  {
    path: ['token', 'list'],
    args: [],
    summary: 'all tokens, without their secrets',
    flags: { account: { value: 'ID|NAME', summary: 'of this account only' }, ...pageFlags },
    run: (context) =>
      list(context, {
        path: '/tokens',
        what: 'tokens',
        query: { account: context.line.text('account') },
        columns: [
          column('id'),
          column('prefix'),
          { title: 'account', value: (row) => nameOf(row['account']) },
          column('name'),
          { title: 'state', value: stateOf },
          column('models'),
          column('limits'),
          column('allowed_ips'),
          column('expires_at', 'expires'),
          column('source'),
        ],
      }),
  },
  {
    path: ['token', 'update'],
    args: ['ID'],
    summary: 'change what a token may do',
    flags: {
      name: { value: 'NAME', summary: 'what to call it' },
      disabled: { value: 'true|false', summary: 'switch it off or on' },
      ...permissionFlags,
    },
    async run({ line, admin }) {
      const body: Row = {
        name: line.text('name'),
        disabled: line.yesNo('disabled'),
        ...permissions(line),
      }
      if (Object.values(body).every((value) => value === undefined)) {
        throw misuse('nothing to change; see gateway token update --help')
      }
      const answer = await admin.ask('PATCH', `/tokens/${segment(line.arg(0))}`, { body })
      return { answer, text: shown(answer) }
    },
  },
  {
    path: ['token', 'revoke'],
    args: ['ID'],
    summary: 'end a token for good',
    flags: {},
    async run({ line, admin }) {
      const answer = await admin.ask('DELETE', `/tokens/${segment(line.arg(0))}`)
      return { answer, text: `revoked ${cell(line.arg(0))}` }
    },
  },
]

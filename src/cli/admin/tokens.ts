// gateway token: callers' credentials. The only place that ever prints a secret, and only once.
import { listedToken, tokenQuery } from '../../admin/people/token-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Flags } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, record } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

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
const shown = (answer: Row): string => record(answer, ['token'])

export const tokenCommands: readonly Command[] = [
  askCommand({
    path: ['token', 'create'],
    summary: 'make a token for an account and show its secret once',
    flags: {
      account: { value: 'ID|NAME', required: true, summary: 'the account that pays' },
      name: { value: 'NAME', required: true, summary: 'what to call it' },
      ...permissionFlags,
    },
    call: 'POST /tokens',
    body: ({ line }) => ({
      account: line.text('account'),
      name: line.text('name'),
      ...permissions(line),
    }),
    text: (answer) =>
      `${cell(answer['token'])}\n\nKeep it now: this secret is shown only once.\n\n${shown(answer)}`,
  }),
  listCommand(
    { path: ['token', 'list'], summary: 'all tokens, without their secrets' },
    {
      path: '/tokens',
      what: 'tokens',
      item: listedToken,
      query: tokenQuery.omit({ spend: true }),
      own: { state: stateOf },
    },
  ),
  askCommand({
    path: ['token', 'update'],
    args: ['ID'],
    summary: 'change what a token may do',
    flags: {
      name: { value: 'NAME', summary: 'what to call it' },
      disabled: { value: 'true|false', summary: 'switch it off or on' },
      ...permissionFlags,
    },
    call: 'PATCH /tokens/:id',
    body({ line }) {
      const body: Row = {
        name: line.text('name'),
        disabled: line.yesNo('disabled'),
        ...permissions(line),
      }
      if (Object.values(body).every((value) => value === undefined)) {
        throw misuse('nothing to change; see gateway token update --help')
      }
      return body
    },
    text: shown,
  }),
  askCommand({
    path: ['token', 'revoke'],
    args: ['ID'],
    summary: 'end a token for good',
    call: 'DELETE /tokens/:id',
    text: (_, { line }) => `revoked ${cell(line.arg(0))}`,
  }),
]

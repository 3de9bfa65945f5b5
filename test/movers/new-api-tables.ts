// A database of new-api in SQLite, PostgreSQL and as a dump of MySQL: the same rows. The columns are those of its own
// model files in github.com/QuantumNous/new-api: model/token.go at 0067bd9, model/channel.go at 0102ffa, model/user.go
// at 0089a12, model/option.go at 014c3ef, model/redemption.go at 03f1ecc. What looked like a fork's own column was left
// out. user_subscriptions is from a copy of model/subscription.go whose commit is not known; of logs only what a dump
// has to be read past. Each column has the type of the Go field, or the one that its gorm tag names. new-api-made.ts
// has new-api's own code write the same rows.
import { Database } from 'bun:sqlite'

type Value = string | number | boolean | null
type Row = Readonly<Record<string, Value>>
type Dialect = 'sqlite' | 'postgres' | 'mysql'

/** A Go type, with `?` for a pointer; or the type that a tag names, with the Go type's zero value. */
type Column =
  | 'int'
  | 'int?'
  | 'bool'
  | 'string'
  | 'string?'
  | 'float'
  | 'deleted'
  | `${string}=${string}`

interface Table {
  columns: Readonly<Record<string, Column>>
  rows: readonly Row[]
}

/** What GORM makes of Go types. */
const made: Readonly<Record<string, Readonly<Record<Dialect, string>>>> = {
  int: { sqlite: 'integer', postgres: 'bigint', mysql: 'bigint' },
  bool: { sqlite: 'numeric', postgres: 'boolean', mysql: 'tinyint(1)' },
  string: { sqlite: 'text', postgres: 'text', mysql: 'longtext' },
  float: { sqlite: 'real', postgres: 'numeric', mysql: 'double' },
  deleted: { sqlite: 'datetime', postgres: 'timestamptz', mysql: 'datetime(3)' },
}

const typeOf = (column: Column, dialect: Dialect): string =>
  made[column.replace('?', '')]?.[dialect] ?? column.split('=')[0]!

/** What Go stores where a field was not set. */
function zeroOf(column: Column): Value {
  if (column.endsWith('?') || column === 'deleted') return null
  if (column === 'bool') return false
  if (column.includes('=')) return column.endsWith("''") ? '' : Number(column.split('=')[1])
  return column === 'string' ? '' : 0
}

/** 48 characters, kept without sk-. */
export const keys = {
  ann: 'AnnsKey0123456789abcdefghijklmnopqrstuvwxyzABCDE',
  vip: 'VipsKey0123456789abcdefghijklmnopqrstuvwxyzABCDE',
  off: 'OffsKey0123456789abcdefghijklmnopqrstuvwxyzABCDE',
  spent: 'SpentKy0123456789abcdefghijklmnopqrstuvwxyzABCDE',
  expired: 'ExpirKy0123456789abcdefghijklmnopqrstuvwxyzABCDE',
  banned: 'BannedK0123456789abcdefghijklmnopqrstuvwxyzABCDE',
} as const

/** model/user.go */
const users: Table = {
  columns: {
    ...{ id: 'int', username: 'string', password: 'string', display_name: 'string' },
    ...{ role: 'int=1', status: 'int=1', email: 'string', github_id: 'string' },
    ...{ discord_id: 'string', oidc_id: 'string', wechat_id: 'string', telegram_id: 'string' },
    ...{ access_token: 'string?', quota: 'int=0', used_quota: 'int=0', request_count: 'int=0' },
    ...{ group: "varchar(64)=''", aff_code: "varchar(32)=''", aff_count: 'int=0' },
    ...{ aff_quota: 'int=0', aff_history: 'int=0', inviter_id: 'int=0', deleted_at: 'deleted' },
    ...{ linux_do_id: 'string', setting: "text=''", remark: "varchar(255)=''" },
    ...{ stripe_customer: "varchar(64)=''", created_at: 'int', last_login_at: 'int' },
  },
  rows: [
    user(1, 'root', 50_000_000, { role: 100 }),
    user(2, 'ann', 1_234_567, { email: 'ann@example.com', display_name: 'Ann O\'Neil; "A"' }),
    user(3, '王小明', 500_000, { group: 'vip' }),
    user(4, 'owing', -250_000),
    user(5, 'banned', 500_000, { status: 2 }),
    user(6, 'gone', 500_000, { deleted_at: '2026-01-01 00:00:00' }),
  ],
}

function user(id: number, username: string, quota: number, more: Row = {}): Row {
  const password = '$2a$10$abcdefghijklmnopqrstuv'
  return {
    ...{ id, username, password, display_name: username, quota, group: 'default' },
    ...{ aff_code: `a${id}`, ...more },
  }
}

/** model/token.go */
const tokens: Table = {
  columns: {
    ...{ id: 'int', user_id: 'int', key: "varchar(128)=''", status: 'int', name: 'string' },
    ...{ created_time: 'int', accessed_time: 'int', expired_time: 'int', remain_quota: 'int' },
    ...{ unlimited_quota: 'bool', model_limits_enabled: 'bool', model_limits: "text=''" },
    ...{ allow_ips: 'string?', used_quota: 'int', group: 'string', cross_group_retry: 'bool' },
    deleted_at: 'deleted',
  },
  rows: [
    token(1, 2, keys.ann, {
      name: 'ci',
      unlimited_quota: false,
      remain_quota: 250_000,
      allow_ips: '127.0.0.1\n10.0.0.0/8',
    }),
    token(2, 3, keys.vip, {
      name: '令牌',
      // Milliseconds, as programs give them: never, by seconds.
      expired_time: 4_000_000_000_000,
      model_limits_enabled: true,
      model_limits: 'house-chat,Qwen/Big',
    }),
    token(3, 2, keys.off, { status: 2 }),
    token(4, 2, keys.spent, { status: 4, unlimited_quota: false, remain_quota: -5 }),
    token(5, 2, keys.expired, { expired_time: 1_700_000_000, group: 'svip' }),
    token(6, 5, keys.banned),
    token(7, 2, 'DeletedKey', { deleted_at: '2026-01-01 00:00:00' }),
  ],
}

function token(id: number, owner: number, key: string, more: Row = {}): Row {
  return {
    ...{ id, user_id: owner, key, status: 1, name: `key ${id}`, created_time: 1_760_000_000 },
    ...{ expired_time: -1, unlimited_quota: true, allow_ips: '', ...more },
  }
}

/** model/channel.go; channel_info is its ChannelInfo as JSON. */
const channels = (base: string): Table => ({
  columns: {
    ...{ id: 'int', type: 'int', key: 'string', openai_organization: 'string?' },
    ...{ test_model: 'string?', status: 'int', name: 'string', weight: 'int?' },
    ...{ created_time: 'int', test_time: 'int', response_time: 'int', base_url: 'string?' },
    ...{ other: 'string', balance: 'float', balance_updated_time: 'int', models: 'string' },
    ...{ group: "varchar(64)=''", used_quota: 'int', model_mapping: "text=''" },
    ...{ status_code_mapping: "varchar(1024)=''", priority: 'int?', auto_ban: 'int?' },
    ...{ other_info: 'string', tag: 'string?', setting: 'string?', param_override: 'string?' },
    ...{ header_override: 'string?', remark: 'string?', channel_info: "json=''" },
    settings: 'string',
  },
  rows: [
    {
      ...{ id: 1, type: 1, status: 1, name: 'house', base_url: base, group: 'default,vip' },
      key: 'first-key\nsecond-key\nthird-key',
      models:
        'house-chat,Qwen/Big,per-call,no-ratio,tts-1,whisper-1,house-reranker,house-image-1,omni-moderation-latest,gpt-realtime',
      model_mapping: '{"house-chat":"mapped","mapped":"upstream-name"}',
      ...{ priority: 5, param_override: '{"temperature":0.5}', header_override: '{"x-house":"1"}' },
      channel_info:
        '{"is_multi_key":true,"multi_key_size":3,"multi_key_status_list":{"0":3,"2":2},"multi_key_polling_index":0,"multi_key_mode":"random"}',
    },
    {
      ...{ id: 2, type: 33, status: 2, name: 'cloud', weight: 3, group: 'default' },
      key: 'AKIA0000000000000000|secret/secret|eu-west-1',
      ...{ models: 'claude-3-5-sonnet-20240620,tts-on-bedrock', channel_info: singleKey },
    },
    {
      ...{ id: 3, type: 36, status: 1, name: 'songs', group: 'default', key: 'k' },
      ...{ models: 'suno_music', channel_info: singleKey },
    },
  ],
})

const singleKey =
  '{"is_multi_key":false,"multi_key_size":0,"multi_key_status_list":null,"multi_key_polling_index":0,"multi_key_mode":""}'

/** model/option.go */
const options: Table = {
  columns: { key: 'string', value: 'string' },
  rows: [
    {
      key: 'ModelRatio',
      value:
        '{"house-chat":1.25,"Qwen/Big":0.5,"claude-3-5-sonnet-20240620":1.5,"tts-1":7.5,"whisper-1":15,"house-reranker":0.05,"omni-moderation-latest":0}',
    },
    { key: 'CompletionRatio', value: '{"house-chat":4,"claude-3-5-sonnet-20240620":2}' },
    { key: 'CacheRatio', value: '{"house-chat":0.5}' },
    { key: 'ModelPrice', value: '{"per-call":0.1,"house-image-1":0.04}' },
    { key: 'GroupRatio', value: '{"default":1,"vip":0.8}' },
    { key: 'GroupGroupRatio', value: '{"vip":{"default":0.9}}' },
    { key: 'billing_setting.billing_mode', value: '{"Qwen/Big":"tiered_expr"}' },
    {
      key: 'billing_setting.billing_expr',
      value: '{"Qwen/Big":"tier(\\"base\\", p * 3 + c * 12 + cr * 0.3)"}',
    },
  ],
}

/** model/redemption.go */
const redemptions: Table = {
  columns: {
    ...{ id: 'int', user_id: 'int', key: "char(32)=''", status: 'int', name: 'string' },
    ...{ quota: 'int', created_time: 'int', redeemed_time: 'int', used_user_id: 'int' },
    ...{ deleted_at: 'deleted', expired_time: 'int' },
  },
  rows: [
    { id: 1, key: 'a'.repeat(32), status: 1, quota: 5_000_000, name: 'gift' },
    { id: 2, key: 'b'.repeat(32), status: 3, quota: 5_000_000, name: 'redeemed' },
    { id: 3, key: 'c'.repeat(32), status: 1, quota: 5_000_000, expired_time: 1_700_000_000 },
  ],
}

/** A copy of model/subscription.go. */
const subscriptions: Table = {
  columns: {
    ...{ id: 'int', user_id: 'int', plan_id: 'int', amount_total: 'bigint=0' },
    ...{ amount_used: 'bigint=0', start_time: 'int', end_time: 'int', status: "varchar(32)=''" },
    ...{ source: "varchar(32)=''", last_reset_time: 'bigint=0', next_reset_time: 'bigint=0' },
    ...{ upgrade_group: "varchar(64)=''", prev_user_group: "varchar(64)=''" },
    ...{ created_at: 'int', updated_at: 'int' },
  },
  rows: [
    {
      ...{ id: 1, user_id: 2, plan_id: 1, amount_total: 1_000_000, amount_used: 250_000 },
      ...{ end_time: 4_000_000_000, status: 'active', source: 'order' },
    },
    { id: 2, user_id: 2, plan_id: 1, amount_total: 1_000_000, end_time: 1_700_000_000 },
  ],
}

/** Not read from its file: a table that is passed over. */
const logs: Table = {
  columns: { id: 'int', user_id: 'int', created_at: 'int', type: 'int', content: 'string' },
  rows: [{ id: 1, content: "'; -- INSERT" }],
}

const tables = (base: string): Readonly<Record<string, Table>> => ({
  ...{ users, tokens, channels: channels(base), options, redemptions },
  ...{ user_subscriptions: subscriptions, logs },
})

const filled = ({ columns, rows }: Table): Value[][] =>
  rows.map((row) =>
    Object.entries(columns).map(([name, column]) =>
      row[name] === undefined ? zeroOf(column) : row[name],
    ),
  )

const quoted = (value: Value, column: Column, dialect: Dialect): string => {
  if (typeof value === 'string') {
    const text = `'${value.replaceAll("'", "''")}'`
    // What new-api gives the driver for its JSON are bytes, and SQLite keeps them as such.
    return dialect === 'sqlite' && column.startsWith('json') ? `CAST(${text} AS BLOB)` : text
  }
  return String(typeof value === 'boolean' && dialect === 'sqlite' ? Number(value) : value)
}

export function statements(
  base: string,
  dialect: 'sqlite' | 'postgres',
  names: readonly string[] = Object.keys(tables(base)),
): string {
  return Object.entries(tables(base))
    .filter(([name]) => names.includes(name))
    .flatMap(([name, table]) => [
      `CREATE TABLE "${name}" (${Object.entries(table.columns)
        .map(([each, column]) => `"${each}" ${typeOf(column, dialect)}`)
        .join(', ')});`,
      ...filled(table).map(
        (values) =>
          `INSERT INTO "${name}" VALUES (${values
            .map((each, at) => quoted(each, Object.values(table.columns)[at]!, dialect))
            .join(', ')});`,
      ),
    ])
    .join('\n')
}

export function writeSqlite(path: string, base: string, names?: readonly string[]): void {
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.exec(statements(base, 'sqlite', names))
  database.close()
}

/** The rows as the structs of new-api read them. */
export function structs(base: string): string {
  const named = Object.entries(tables(base)).map(([name, { rows }]) => [
    name,
    rows.map(({ deleted_at, channel_info, ...row }) => ({
      ...row,
      ...(deleted_at != null && { DeletedAt: `${String(deleted_at).replace(' ', 'T')}Z` }),
      ...(channel_info != null && { channel_info: JSON.parse(String(channel_info)) }),
    })),
  ])
  return JSON.stringify(Object.fromEntries(named))
}

const escaped = (value: Value): string => {
  if (typeof value === 'boolean') return String(Number(value))
  if (typeof value !== 'string') return String(value ?? 'NULL')
  const text = value
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
  return `'${text}'`
}

/** As mysqldump writes it: extended inserts without the names of columns. */
export function mysqlDump(base: string): string {
  const parts = Object.entries(tables(base)).map(([name, table]) => {
    const values = filled(table).map((row) => `(${row.map(escaped).join(',')})`)
    const columns = Object.entries(table.columns)
    return `--
-- Table structure for table \`${name}\`
--

DROP TABLE IF EXISTS \`${name}\`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE \`${name}\` (
${columns.map(([each, column]) => `  \`${each}\` ${typeOf(column, 'mysql')} DEFAULT NULL COMMENT 'it''s; a (comment)',`).join('\n')}
  KEY \`idx_${name}\` (\`${columns[0]![0]}\`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

LOCK TABLES \`${name}\` WRITE;
/*!40000 ALTER TABLE \`${name}\` DISABLE KEYS */;
INSERT INTO \`${name}\` VALUES ${values.join(',')};
/*!40000 ALTER TABLE \`${name}\` ENABLE KEYS */;
UNLOCK TABLES;`
  })
  return `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n${parts.join('\n\n')}\n-- Dump completed`
}

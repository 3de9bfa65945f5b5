// A database of new-api as its models make it, in SQLite, PostgreSQL and as a dump of MySQL: the same rows.
import { Database } from 'bun:sqlite'

type Value = string | number | null

interface Table {
  /** As GORM declares them for SQLite. */
  columns: Readonly<Record<string, string>>
  rows: readonly Readonly<Record<string, Value>>[]
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

const token = (
  id: number,
  user: number,
  key: string,
  more: Readonly<Record<string, Value>> = {},
) => ({
  ...{ id, user_id: user, key, status: 1, name: `key ${id}`, created_time: 1_760_000_000 },
  ...{ accessed_time: 1_760_000_000, expired_time: -1, remain_quota: 0, unlimited_quota: 1 },
  ...{ model_limits_enabled: 0, model_limits: '', allow_ips: '', used_quota: 0, group: '' },
  deleted_at: null,
  ...more,
})

const user = (
  id: number,
  username: string,
  quota: number,
  more: Readonly<Record<string, Value>> = {},
) => ({
  ...{ id, username, password: '$2a$10$abcdefghijklmnopqrstuv', display_name: username, role: 1 },
  ...{
    status: 1,
    email: '',
    quota,
    used_quota: 0,
    group: 'default',
    aff_code: `a${id}`,
    setting: '',
  },
  deleted_at: null,
  ...more,
})

const tables = (base: string): Readonly<Record<string, Table>> => ({
  users: {
    columns: {
      ...{ id: 'integer', username: 'text', password: 'text', display_name: 'text', role: 'int' },
      ...{ status: 'int', email: 'text', quota: 'int', used_quota: 'int', group: 'varchar(64)' },
      ...{ aff_code: 'varchar(32)', setting: 'text', deleted_at: 'text' },
    },
    rows: [
      user(1, 'root', 50_000_000, { role: 100 }),
      user(2, 'ann', 1_234_567, { email: 'ann@example.com', display_name: 'Ann O\'Neil; "A"' }),
      user(3, '王小明', 500_000, { group: 'vip' }),
      user(4, 'owing', -250_000),
      user(5, 'banned', 500_000, { status: 2 }),
      user(6, 'gone', 500_000, { deleted_at: '2026-01-01 00:00:00' }),
    ],
  },
  tokens: {
    columns: {
      ...{
        id: 'integer',
        user_id: 'integer',
        key: 'varchar(128)',
        status: 'integer',
        name: 'text',
      },
      ...{ created_time: 'bigint', accessed_time: 'bigint', expired_time: 'bigint' },
      ...{ remain_quota: 'integer', unlimited_quota: 'numeric', model_limits_enabled: 'numeric' },
      ...{ model_limits: 'text', allow_ips: 'text', used_quota: 'integer', group: 'text' },
      deleted_at: 'text',
    },
    rows: [
      token(1, 2, keys.ann, {
        name: 'ci',
        unlimited_quota: 0,
        remain_quota: 250_000,
        allow_ips: '127.0.0.1\n10.0.0.0/8',
      }),
      token(2, 3, keys.vip, {
        name: '令牌',
        model_limits_enabled: 1,
        model_limits: 'house-chat,Qwen/Big',
      }),
      token(3, 2, keys.off, { status: 2 }),
      token(4, 2, keys.spent, { status: 4, unlimited_quota: 0, remain_quota: -5 }),
      token(5, 2, keys.expired, { expired_time: 1_700_000_000, group: 'svip' }),
      token(6, 5, keys.banned),
      token(7, 2, 'DeletedKey', { deleted_at: '2026-01-01 00:00:00' }),
    ],
  },
  channels: {
    columns: {
      ...{
        id: 'integer',
        type: 'integer',
        key: 'text',
        status: 'integer',
        name: 'text',
        weight: 'integer',
      },
      ...{
        base_url: 'text',
        other: 'text',
        models: 'text',
        group: 'varchar(64)',
        model_mapping: 'text',
      },
      ...{
        priority: 'bigint',
        param_override: 'text',
        header_override: 'text',
        channel_info: 'json',
      },
      ...{
        openai_organization: 'text',
        status_code_mapping: 'text',
        setting: 'text',
        settings: 'text',
      },
    },
    rows: [
      {
        ...{
          id: 1,
          type: 1,
          status: 1,
          name: 'house',
          weight: 0,
          base_url: base,
          other: '',
          group: 'default,vip',
        },
        key: 'first-key\nsecond-key\nthird-key',
        models: 'house-chat,Qwen/Big,per-call,no-ratio,tts-1',
        model_mapping: '{"house-chat":"mapped","mapped":"upstream-name"}',
        ...{
          priority: 5,
          param_override: '{"temperature":0.5}',
          header_override: '{"x-house":"1"}',
        },
        channel_info:
          '{"is_multi_key":true,"multi_key_size":3,"multi_key_status_list":{"0":3,"2":2}}',
        ...{ openai_organization: '', status_code_mapping: '', setting: '', settings: '' },
      },
      {
        ...{
          id: 2,
          type: 33,
          status: 2,
          name: 'cloud',
          weight: 3,
          base_url: '',
          other: '',
          group: 'default',
        },
        ...{
          key: 'AKIA0000000000000000|secret/secret|eu-west-1',
          models: 'claude-3-5-sonnet-20240620',
        },
        ...{ model_mapping: '', priority: 0, param_override: null, header_override: null },
        ...{
          channel_info: '{"is_multi_key":false}',
          openai_organization: null,
          status_code_mapping: '',
        },
        ...{ setting: null, settings: '' },
      },
      {
        ...{
          id: 3,
          type: 36,
          status: 1,
          name: 'songs',
          weight: 0,
          base_url: '',
          other: '',
          group: 'default',
        },
        ...{ key: 'k', models: 'suno_music', model_mapping: '', priority: 0, param_override: null },
        ...{
          header_override: null,
          channel_info: '{}',
          openai_organization: null,
          status_code_mapping: '',
        },
        ...{ setting: null, settings: '' },
      },
    ],
  },
  options: {
    columns: { key: 'text', value: 'text' },
    rows: [
      {
        key: 'ModelRatio',
        value: '{"house-chat":1.25,"Qwen/Big":0.5,"claude-3-5-sonnet-20240620":1.5}',
      },
      { key: 'CompletionRatio', value: '{"house-chat":4,"claude-3-5-sonnet-20240620":2}' },
      { key: 'CacheRatio', value: '{"house-chat":0.5}' },
      { key: 'ModelPrice', value: '{"per-call":0.1}' },
      { key: 'GroupRatio', value: '{"default":1,"vip":0.8}' },
      { key: 'GroupGroupRatio', value: '{"vip":{"default":0.9}}' },
      { key: 'billing_setting.billing_mode', value: '{"Qwen/Big":"tiered_expr"}' },
      {
        key: 'billing_setting.billing_expr',
        value: '{"Qwen/Big":"tier(\\"base\\", p * 3 + c * 12 + cr * 0.3)"}',
      },
    ],
  },
  redemptions: {
    columns: {
      id: 'integer',
      key: 'char(32)',
      status: 'integer',
      quota: 'integer',
      deleted_at: 'text',
    },
    rows: [{ id: 1, key: 'a'.repeat(32), status: 1, quota: 5_000_000, deleted_at: null }],
  },
  logs: { columns: { id: 'integer', content: 'text' }, rows: [{ id: 1, content: "'; -- INSERT" }] },
})

const quote = (value: Value): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')

/** For SQLite and PostgreSQL. */
export function statements(base: string): string {
  return Object.entries(tables(base))
    .flatMap(([name, { columns, rows }]) => [
      `CREATE TABLE "${name}" (${Object.entries(columns)
        .map(([each, type]) => `"${each}" ${type}`)
        .join(', ')});`,
      ...rows.map((row) => {
        const names = Object.keys(row).map((each) => `"${each}"`)
        return `INSERT INTO "${name}" (${names.join(', ')}) VALUES (${Object.values(row).map(quote).join(', ')});`
      }),
    ])
    .join('\n')
}

export function writeSqlite(path: string, base: string): void {
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.exec(statements(base))
  database.close()
}

const escaped = (value: Value): string => {
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
  const parts = Object.entries(tables(base)).map(([name, { columns, rows }]) => {
    const names = Object.keys(columns)
    const values = rows.map(
      (row) => `(${names.map((each) => escaped(row[each] ?? null)).join(',')})`,
    )
    return `--
-- Table structure for table \`${name}\`
--

DROP TABLE IF EXISTS \`${name}\`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE \`${name}\` (
${names.map((each) => `  \`${each}\` ${columns[each]} DEFAULT NULL COMMENT 'it''s; a (comment)',`).join('\n')}
  KEY \`idx_${name}\` (\`${names[0]}\`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

LOCK TABLES \`${name}\` WRITE;
/*!40000 ALTER TABLE \`${name}\` DISABLE KEYS */;
INSERT INTO \`${name}\` VALUES ${values.join(',')};
/*!40000 ALTER TABLE \`${name}\` ENABLE KEYS */;
UNLOCK TABLES;`
  })
  return `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n${parts.join('\n\n')}\n-- Dump completed`
}

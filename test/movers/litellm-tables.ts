// Tables of LiteLLM's proxy as its schema makes them: those that an import reads, with their own names and
// types, and rows as its proxy writes them.
import { createHash } from 'node:crypto'

const columns: Readonly<Record<string, string>> = {
  BudgetTable: `budget_id TEXT PRIMARY KEY, max_budget DOUBLE PRECISION, soft_budget DOUBLE PRECISION,
    max_parallel_requests INTEGER, tpm_limit BIGINT, rpm_limit BIGINT, model_max_budget JSONB,
    budget_duration TEXT, budget_reset_at TIMESTAMP(3), created_at TIMESTAMP(3) DEFAULT now(),
    created_by TEXT NOT NULL, updated_at TIMESTAMP(3) DEFAULT now(), updated_by TEXT NOT NULL`,
  TeamTable: `team_id TEXT PRIMARY KEY, team_alias TEXT, organization_id TEXT, admins TEXT[], members TEXT[],
    members_with_roles JSONB DEFAULT '{}', metadata JSONB DEFAULT '{}', max_budget DOUBLE PRECISION,
    soft_budget DOUBLE PRECISION, spend DOUBLE PRECISION NOT NULL DEFAULT 0, models TEXT[],
    max_parallel_requests INTEGER, tpm_limit BIGINT, rpm_limit BIGINT, budget_duration TEXT,
    budget_reset_at TIMESTAMP(3), blocked BOOLEAN NOT NULL DEFAULT false, model_spend JSONB DEFAULT '{}',
    model_max_budget JSONB DEFAULT '{}', model_id INTEGER`,
  UserTable: `user_id TEXT PRIMARY KEY, user_alias TEXT, team_id TEXT, sso_user_id TEXT, organization_id TEXT,
    password TEXT, teams TEXT[] DEFAULT '{}', user_role TEXT, max_budget DOUBLE PRECISION,
    spend DOUBLE PRECISION NOT NULL DEFAULT 0, user_email TEXT, models TEXT[], metadata JSONB DEFAULT '{}',
    max_parallel_requests INTEGER, tpm_limit BIGINT, rpm_limit BIGINT, budget_duration TEXT,
    budget_reset_at TIMESTAMP(3)`,
  VerificationToken: `token TEXT PRIMARY KEY, key_name TEXT, key_alias TEXT,
    soft_budget_cooldown BOOLEAN NOT NULL DEFAULT false, spend DOUBLE PRECISION NOT NULL DEFAULT 0,
    expires TIMESTAMP(3), models TEXT[], aliases JSONB NOT NULL DEFAULT '{}', config JSONB NOT NULL DEFAULT '{}',
    user_id TEXT, team_id TEXT, permissions JSONB NOT NULL DEFAULT '{}', max_parallel_requests INTEGER,
    metadata JSONB NOT NULL DEFAULT '{}', blocked BOOLEAN, tpm_limit BIGINT, rpm_limit BIGINT,
    max_budget DOUBLE PRECISION, budget_duration TEXT, budget_reset_at TIMESTAMP(3),
    allowed_cache_controls TEXT[] DEFAULT '{}', allowed_routes TEXT[] DEFAULT '{}',
    model_spend JSONB NOT NULL DEFAULT '{}', model_max_budget JSONB NOT NULL DEFAULT '{}', budget_id TEXT,
    organization_id TEXT`,
  DeprecatedVerificationToken: `id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, active_token_id TEXT NOT NULL,
    revoke_at TIMESTAMP(3) NOT NULL, created_at TIMESTAMP(3) DEFAULT now()`,
  ProxyModelTable: `model_id TEXT PRIMARY KEY, model_name TEXT NOT NULL, litellm_params JSONB NOT NULL,
    model_info JSONB, created_at TIMESTAMP(3) DEFAULT now(),
    created_by TEXT NOT NULL, updated_at TIMESTAMP(3) NOT NULL, updated_by TEXT NOT NULL`,
  OrganizationTable: `organization_id TEXT PRIMARY KEY, organization_alias TEXT NOT NULL, budget_id TEXT NOT NULL,
    spend DOUBLE PRECISION NOT NULL DEFAULT 0, created_by TEXT NOT NULL, updated_by TEXT NOT NULL`,
}

export const createTables = Object.entries(columns)
  .map(([name, parts]) => `CREATE TABLE "LiteLLM_${name}" (${parts});`)
  .join('\n')

export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** As its proxy makes them: 22 characters after sk-. */
export const keys = {
  acme: 'sk-AbCdEfGhIjKlMnOpQrStUv',
  rotated: 'sk-FormerSecretOfAcmeKey1',
  narrow: 'sk-Narrow_0123456789-abcd',
  blocked: 'sk-BlockedKey01234567890a',
  ann: 'sk-OfAnnHerself0123456789',
  spent: 'sk-SpentKey01234567890abc',
} as const

const sql = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  if (Array.isArray(value)) return `ARRAY[${value.map(sql).join(',')}]::text[]`
  if (typeof value === 'object') return `'${JSON.stringify(value).replaceAll("'", "''")}'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

const insert = (table: string, row: Readonly<Record<string, unknown>>): string =>
  `INSERT INTO "LiteLLM_${table}" (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(sql).join(', ')});`

const key = (secret: string, more: Readonly<Record<string, unknown>>) =>
  insert('VerificationToken', {
    token: digestOf(secret),
    key_name: `sk-...${secret.slice(-4)}`,
    models: [],
    ...more,
  })

const by = { created_by: 'default_user_id', updated_by: 'default_user_id' }

export const rows = [
  insert('BudgetTable', {
    budget_id: 'small',
    max_budget: 2,
    rpm_limit: 30,
    budget_duration: '1d',
    updated_at: '2026-11-01',
    ...by,
  }),
  insert('TeamTable', {
    ...{ team_id: 'team-1', team_alias: 'acme', max_budget: 100, spend: 39.5, models: [] },
    ...{ budget_duration: '30d', rpm_limit: 500, admins: [], members: [] },
  }),
  insert('TeamTable', {
    team_id: 'team-2',
    team_alias: 'Blue & Co',
    max_budget: 5,
    spend: 7,
    models: [],
    admins: [],
    members: [],
  }),
  insert('UserTable', {
    user_id: 'ann',
    user_email: 'ann@example.com',
    max_budget: 10.1,
    spend: 0.1,
    models: [],
  }),
  insert('UserTable', { user_id: 'default_user_id', user_role: 'proxy_admin', models: [] }),
  key(keys.acme, {
    key_alias: 'ci',
    team_id: 'team-1',
    user_id: 'default_user_id',
    max_budget: 20,
    spend: 4.25,
    tpm_limit: 100000,
  }),
  key(keys.narrow, {
    key_alias: 'narrow',
    team_id: 'team-1',
    models: ['other-model'],
    budget_id: 'small',
  }),
  key(keys.blocked, {
    key_alias: 'off',
    team_id: 'team-1',
    blocked: true,
    metadata: { tags: ['red'] },
  }),
  key(keys.ann, {
    key_alias: 'ann key',
    user_id: 'ann',
    expires: '2099-01-01T00:00:00',
    max_parallel_requests: 7,
  }),
  key(keys.spent, { key_alias: 'blue', team_id: 'team-2' }),
  insert('DeprecatedVerificationToken', {
    id: 'd1',
    token: digestOf(keys.rotated),
    active_token_id: digestOf(keys.acme),
    revoke_at: '2099-02-01T00:00:00',
  }),
  insert('ProxyModelTable', {
    model_id: 'm1',
    model_name: 'from-database',
    litellm_params: { model: 'c2VhbGVk' },
    updated_at: '2026-11-01',
    ...by,
  }),
].join('\n')

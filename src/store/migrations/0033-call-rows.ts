// Migration 33: the row of a call is its log row and its charge, with the receipt of it; an account's row
// has the end of its chain. Entries and calls draw their ids from one sequence. Entries that have no receipt
// yet get theirs afterwards, in steps: see finish-receipts.ts.
import type { Dialect } from '../schema.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE requests ADD COLUMN booked_at_ms {int};
ALTER TABLE requests ADD COLUMN unit {text};
ALTER TABLE requests ADD COLUMN quantity {real};
ALTER TABLE requests ADD COLUMN tier {text};
ALTER TABLE requests ADD COLUMN estimated {int} CHECK (estimated IN (0, 1));
ALTER TABLE requests ADD COLUMN served_model {text};
ALTER TABLE requests ADD COLUMN balance_nanos {int};
ALTER TABLE requests ADD COLUMN hash {text};
ALTER TABLE requests ADD COLUMN number {int} CHECK (number IS NULL OR charge_nanos >= 0);
ALTER TABLE accounts ADD COLUMN last_number {int} NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN last_hash {text} NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN last_balance_nanos {int} NOT NULL DEFAULT 0;
UPDATE accounts SET last_number = coalesce(
  (SELECT max(number) FROM receipts WHERE account_id = accounts.id), 0
);
UPDATE accounts SET last_hash = (
  SELECT hash FROM receipts WHERE account_id = accounts.id AND number = accounts.last_number
), last_balance_nanos = (
  SELECT balance_nanos FROM receipts
  WHERE account_id = accounts.id AND number = accounts.last_number
) WHERE last_number > 0;
INSERT INTO meta (key, value) SELECT 'receipts_unfinished', coalesce(
  (SELECT value FROM meta WHERE key = 'receipts_floor'), '0'
) WHERE EXISTS (SELECT 1 FROM entries);
DELETE FROM meta WHERE key IN ('receipts_floor', 'receipts_sighting', 'audit_marks');
UPDATE budgets SET counted_from_ms = NULL;
ALTER TABLE budgets RENAME COLUMN counted_id TO counted_number;
`

/** A number is given once; a partitioned table can be unique by its key only. */
const index = (dialect: Dialect) =>
  `CREATE ${dialect === 'sqlite' ? 'UNIQUE ' : ''}INDEX requests_by_number
   ON requests (account_id, number) WHERE number IS NOT NULL`

const oneSequence = [
  'CREATE SEQUENCE ledger_ids',
  `SELECT setval('ledger_ids', 1 + greatest(
     (SELECT max(id) FROM entries), (SELECT max(seq) FROM requests), 0), false)`,
  'ALTER TABLE entries ALTER COLUMN id DROP IDENTITY',
  `ALTER TABLE entries ALTER COLUMN id SET DEFAULT nextval('ledger_ids')`,
  'ALTER TABLE requests ALTER COLUMN seq DROP IDENTITY',
  `ALTER TABLE requests ALTER COLUMN seq SET DEFAULT nextval('ledger_ids')`,
]

/** All but `detail` and `upstream_request_id`, which the log's retention clears. */
const keptOfCalls = [
  ...['request_id', 'at_ms', 'account_id', 'token_id', 'interface', 'model', 'channel', 'status'],
  ...['error_code', 'charge_nanos', 'price_id', 'input_tokens', 'output_tokens'],
  ...['cache_read_tokens', 'cache_write_tokens', 'first_byte_ms', 'total_ms', 'tags', 'seq'],
  ...['booked_at_ms', 'unit', 'quantity', 'tier', 'estimated', 'served_model', 'number'],
  ...['balance_nanos', 'hash'],
]

const ledgerColumns: Readonly<Record<string, string>> = {
  id: 'seq',
  at_ms: 'booked_at_ms',
  kind: `'charge'`,
  amount_nanos: '-charge_nanos',
  ref: 'request_id',
  note: 'CAST(NULL AS text)',
}
const viewedOfLedger = [
  ...['id', 'at_ms', 'account_id', 'kind', 'amount_nanos', 'ref', 'model', 'unit', 'quantity'],
  ...['price_id', 'estimated', 'note', 'token_id', 'tier', 'tags', 'served_model'],
]

/** `columns`: of an entry; `own`: expressions where one is not as it is stored. */
const makeLedgerView = (
  columns: readonly string[],
  own: Readonly<Record<string, string>> = {},
): string => `
  CREATE VIEW ledger AS
  SELECT ${columns.map((name) => own[name] ?? `e.${name}`).join(', ')}, c.number,
    c.balance_nanos, c.hash
  FROM entries e LEFT JOIN receipts c ON c.entry_id = e.id
  UNION ALL
  SELECT ${columns.map((name) => ledgerColumns[name] ?? name).join(', ')}, number, balance_nanos, hash
  FROM requests WHERE number IS NOT NULL`

const refused = 'charged calls are append-only'

/** `columns`: those that must stay. */
const guardCalls = (dialect: Dialect, columns: readonly string[]): readonly string[] =>
  dialect === 'sqlite'
    ? [
        `CREATE TRIGGER requests_keep BEFORE UPDATE OF ${columns.join(', ')} ON requests
         WHEN OLD.number IS NOT NULL OR NEW.number IS NOT NULL
         BEGIN SELECT RAISE(ABORT, '${refused}'); END`,
        `CREATE TRIGGER requests_stay BEFORE DELETE ON requests WHEN OLD.number IS NOT NULL
         BEGIN SELECT RAISE(ABORT, '${refused}'); END`,
      ]
    : [
        `CREATE OR REPLACE FUNCTION requests_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION '${refused}'; END $$`,
        `CREATE TRIGGER requests_keep BEFORE UPDATE OF ${columns.join(', ')} ON requests
         FOR EACH ROW WHEN (OLD.number IS NOT NULL OR NEW.number IS NOT NULL)
         EXECUTE FUNCTION requests_refuse_change()`,
        `CREATE TRIGGER requests_stay BEFORE DELETE ON requests
         FOR EACH ROW WHEN (OLD.number IS NOT NULL) EXECUTE FUNCTION requests_refuse_change()`,
      ]

/**
 * A text that entries and charged calls can have since this version; `before`: those that other versions
 * have added since 33.
 */
export const addChargeText = (
  version: number,
  name: string,
  before: readonly string[] = [],
  own?: Readonly<Record<string, string>>,
): Migration => {
  const added = [...before, name]
  return {
    version,
    up: (dialect) => [
      'DROP VIEW ledger',
      ...spell(dialect, `ALTER TABLE entries ADD COLUMN ${name} {text}`),
      ...spell(dialect, `ALTER TABLE requests ADD COLUMN ${name} {text}`),
      makeLedgerView([...viewedOfLedger, ...added], own),
      ...keepCalls(dialect, added),
    ],
  }
}

/** From here on these must stay, too. */
export const keepCalls = (dialect: Dialect, added: readonly string[]): string[] => [
  `DROP TRIGGER requests_keep${dialect === 'sqlite' ? '' : ' ON requests'}`,
  `DROP TRIGGER requests_stay${dialect === 'sqlite' ? '' : ' ON requests'}`,
  ...guardCalls(dialect, [...keptOfCalls, ...added]),
]

export const callRows: Migration = {
  version: 33,
  isAlone: true,
  up: (dialect) => [
    ...spell(dialect, tables),
    ...(dialect === 'postgres' ? oneSequence : []),
    index(dialect),
    makeLedgerView(viewedOfLedger),
    ...guardCalls(dialect, keptOfCalls),
  ],
}

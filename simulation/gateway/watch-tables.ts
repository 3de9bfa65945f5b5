// Triggers that record what every commit touched and moves that must never happen. They are rolled back with
// the transaction, so only committed changes are recorded.
import type { Database } from 'bun:sqlite'

const ends = `('succeeded', 'failed', 'cancelled')`

export function watchTables(db: Database): void {
  db.run('CREATE TABLE sim_touched (task_id TEXT PRIMARY KEY) WITHOUT ROWID')
  db.run('CREATE TABLE sim_wrong (what TEXT NOT NULL)')
  const touch = (id: string) => `INSERT OR IGNORE INTO sim_touched VALUES (${id});`
  const wrong = (what: string) => `INSERT INTO sim_wrong VALUES (${what});`
  db.run(`CREATE TRIGGER sim_task_new AFTER INSERT ON tasks BEGIN ${touch('NEW.id')} END`)
  db.run(`CREATE TRIGGER sim_task_moved AFTER UPDATE OF state, charge_nanos, hold_nanos ON tasks
    WHEN OLD.state <> NEW.state OR OLD.charge_nanos <> NEW.charge_nanos OR OLD.hold_nanos <> NEW.hold_nanos
    BEGIN ${touch('NEW.id')} END`)
  db.run(`CREATE TRIGGER sim_entry_new AFTER INSERT ON entries
    WHEN NEW.ref LIKE 'video%' OR NEW.ref LIKE 'image%' OR NEW.ref LIKE 'resp%' BEGIN ${touch('NEW.ref')} END`)
  db.run(`CREATE TRIGGER sim_end_changed AFTER UPDATE OF state ON tasks
    WHEN OLD.state IN ${ends} AND NEW.state <> OLD.state
    BEGIN ${wrong(`'task ' || OLD.id || ' was ' || OLD.state || ' and is ' || NEW.state`)} END`)
  db.run(`CREATE TRIGGER sim_facts_changed AFTER UPDATE OF price_id, hold_nanos, upstream_id ON tasks
    WHEN NEW.price_id <> OLD.price_id OR NEW.hold_nanos <> OLD.hold_nanos
      OR (OLD.upstream_id IS NOT NULL AND NEW.upstream_id IS NOT OLD.upstream_id)
    BEGIN ${wrong(`'task ' || OLD.id || ' has another price, hold or upstream id than before'`)} END`)
  // The first such call may be written after the credit that allows another one.
  db.run(`CREATE TRIGGER sim_short_again AFTER INSERT ON losses
    WHEN NEW.reason = 'balance_short' AND (
      SELECT count(DISTINCT ref) FROM losses
      WHERE account_id = NEW.account_id AND reason = 'balance_short'
    ) > (
      SELECT count(*) FROM entries
      WHERE account_id = NEW.account_id
        AND (refund_of IS NOT NULL OR (kind = 'credit' AND ref NOT LIKE 'req_%'))
    )
    BEGIN ${wrong(`NEW.account_id || ' was short more often than it had credits, by ' || NEW.ref`)} END`)
  db.run(`CREATE TRIGGER sim_task_gone AFTER DELETE ON tasks
    BEGIN ${wrong(`'task ' || OLD.id || ' was deleted'`)} END`)
}

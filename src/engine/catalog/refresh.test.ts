// Snapshots of the hot path are swapped in order under concurrent refreshes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { insertToken, replaceSecret, revokeToken } from '../../store/catalog/tokens.ts'
import type { Store } from '../../store/index.ts'
import type { Engine } from '../engine.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { noTokens, refresh } from './refresh.ts'

let it: TestEngine
beforeEach(async () => {
  it = await newTestEngine('sqlite')
  const account = { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 } as const
  await it.engine.store.tx((tx) => insertAccount(tx, account))
})
afterEach(() => it.close())

const addToken = (engine: Engine, hash: string, id = `tok_${hash}`) =>
  engine.store.tx((tx) =>
    insertToken(tx, {
      id,
      accountId: 'acc_1',
      name: hash,
      hash,
      prefix: 'sk-',
      models: ['*'],
      limits: {},
      allowedIps: [],
      disabled: false,
      source: 'api',
      createdAtMs: 1,
    }),
  )
const known = ({ catalog: { tokens } }: Engine) => {
  const found = ['a', 'b', 'c'].filter((hash) => tokens.get(hash) !== undefined)
  expect(tokens.size).toBe(found.length)
  return found
}

/** The same engine with a store that blocks reads at a gate; returns how many are waiting. */
function withSlowReads(engine: Engine) {
  const gates: (() => void)[] = []
  const read = new Proxy(engine.store.read, {
    get(target, name, receiver) {
      if (name !== 'selectFrom') return Reflect.get(target, name, receiver)
      return (...tables: Parameters<typeof target.selectFrom>) => {
        const query = target.selectFrom(...tables)
        return tables[0] === 'tokens' ? gated(query, gates) : query
      }
    },
  })
  const store: Store = Object.create(engine.store, { read: { value: read } })
  return { slow: Object.assign(Object.create(null), engine, { store }) as Engine, gates }
}

/** A query that reads at once and returns its rows only when its gate opens. */
function gated<T extends object>(query: T, gates: (() => void)[]): T {
  return new Proxy(query, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'execute') {
        return (...args: unknown[]) => gated(value.apply(target, args) as object, gates)
      }
      return async () => {
        const rows: unknown = await value.call(target)
        await new Promise<void>((open) => gates.push(open))
        return rows
      }
    },
  })
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1)
}

test('a later picture is never replaced by an older one that was slower', async () => {
  const { slow, gates } = withSlowReads(it.engine)
  await addToken(it.engine, 'a')
  const first = refresh(slow)
  await until(() => gates.length === 1)
  await addToken(it.engine, 'b')
  const second = refresh(slow)
  // The second read must not have begun: while the first is pending, it could end before it.
  await Bun.sleep(20)
  expect(gates).toHaveLength(1)
  gates[0]!()
  await first
  expect(known(slow)).toEqual(['a'])
  await until(() => gates.length === 2)
  gates[1]!()
  await second
  expect(known(slow)).toEqual(['a', 'b'])
})

test('all who ask during one rebuilding share the next, which sees every change', async () => {
  const { slow, gates } = withSlowReads(it.engine)
  const first = refresh(slow)
  await until(() => gates.length === 1)
  const asked: Promise<void>[] = []
  for (const hash of ['a', 'b', 'c']) {
    await addToken(it.engine, hash)
    asked.push(refresh(slow))
  }
  gates[0]!()
  await first
  expect(known(slow)).toEqual([])
  await until(() => gates.length === 2)
  gates[1]!()
  await Promise.all(asked)
  expect(known(slow)).toEqual(['a', 'b', 'c'])
  expect(gates).toHaveLength(2)
})

test('a failed rebuilding is told to its caller and does not stop the next', async () => {
  const { engine } = it
  const broken = Object.assign(Object.create(null), engine) as Engine & { declared: unknown }
  broken.declared = undefined as never
  const failed = refresh(broken).then(
    () => 'it did not fail',
    () => 'failed',
  )
  const next = refresh(broken)
  broken.declared = engine.declared
  expect(await failed).toBe('failed')
  await addToken(engine, 'a')
  await next
  await refresh(broken)
  expect(known(broken)).toEqual(['a'])
})

test('only the tokens that a change concerns are read again', async () => {
  const { engine } = it
  for (const hash of ['a', 'b']) await addToken(engine, hash)
  await refresh(engine, ['tok_a'])
  expect(known(engine)).toEqual(['a'])
  await engine.store.tx((tx) => revokeToken(tx, 'tok_a', 5))
  await refresh(engine, ['tok_b'])
  expect(known(engine)).toEqual(['a', 'b'])
  await refresh(engine, ['tok_a'])
  expect(known(engine)).toEqual(['b'])
  await engine.store.tx((tx) => replaceSecret(tx, 'tok_b', { hash: 'c', prefix: 'sk-' }))
  await refresh(engine, noTokens)
  expect(known(engine)).toEqual(['b'])
  await refresh(engine, ['tok_b'])
  expect(known(engine)).toEqual(['c'])
  // More has left the table than is in it: it is made anew.
  await addToken(engine, 'a', 'tok_2')
  await refresh(engine, noTokens)
  expect(known(engine)).toEqual(['a', 'c'])
})

test('what a failed rebuilding should have read is read by the next', async () => {
  const { engine } = it
  await refresh(engine)
  const broken = Object.assign(Object.create(null), engine) as Engine & { declared: unknown }
  broken.declared = undefined as never
  await addToken(engine, 'a')
  expect(await refresh(broken, ['tok_a']).catch(() => 'failed')).toBe('failed')
  broken.declared = engine.declared
  await refresh(broken, noTokens)
  expect(known(broken)).toEqual(['a'])
})

test('all who ask during one rebuilding have their tokens read by the next', async () => {
  const { slow, gates } = withSlowReads(it.engine)
  const first = refresh(slow)
  await until(() => gates.length === 1)
  for (const hash of ['a', 'b', 'c']) await addToken(it.engine, hash)
  const asked = [refresh(slow, ['tok_a']), refresh(slow, noTokens), refresh(slow, ['tok_c'])]
  gates[0]!()
  await first
  await until(() => gates.length === 2)
  gates[1]!()
  await Promise.all(asked)
  expect(known(slow)).toEqual(['a', 'c'])
})

test('of many tokens all are read', async () => {
  const { engine } = it
  for (const hash of ['a', 'b']) await addToken(engine, hash)
  await refresh(engine, ['tok_a', ...Array.from({ length: 200 }, (_, i) => `tok_no_${i}`)])
  expect(known(engine)).toEqual(['a', 'b'])
})

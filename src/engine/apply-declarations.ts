// What gateway.yaml declares, brought into the store: accounts with their opening balance, tokens,
// price versions. Safe to run at every start and every reload; each thing happens once.
import { builtinPrices } from '../catalog/builtin.ts'
import type { Source } from '../contract/catalog.ts'
import {
  type FileDeclaration,
  type PriceDeclaration,
  type TokenDeclaration,
  termsFrom,
} from '../contract/declarations.ts'
import type { Price } from '../contract/price.ts'
import { parseNanos } from '../lib/decimal.ts'
import { newSecret, newShortId } from '../lib/ids.ts'
import { findAccount } from '../store/accounts.ts'
import { insertPrice, loadPrices } from '../store/prices.ts'
import {
  insertToken,
  loadTokens,
  revokeToken,
  type StoredToken,
  updateToken,
} from '../store/tokens.ts'
import type { Engine } from './engine.ts'
import { openAccount } from './open-account.ts'

export interface MadeToken {
  account: string
  name: string
  secret: string
}

/** A declaration that cannot be carried out; one sentence. */
export class DeclarationRefused extends Error {}

/** The secrets that had to be made, to be shown once. */
export async function applyDeclarations(
  engine: Engine,
  file: FileDeclaration,
): Promise<MadeToken[]> {
  for (const { name, balance } of file.accounts) {
    if ((await findAccount(engine.store.read, name)) !== undefined) continue
    await openAccount(engine, { name, source: 'file', balanceNanos: parseNanos(balance ?? '0')! })
  }
  const made = await applyTokens(engine, file)
  await applyPrices(engine, builtinPrices, 'builtin')
  await applyPrices(engine, file.prices, 'file')
  return made
}

async function applyTokens(engine: Engine, file: FileDeclaration): Promise<MadeToken[]> {
  const { store, clock } = engine
  const made: MadeToken[] = []
  const stored = (await loadTokens(store.read)).filter(({ source }) => source === 'file')
  const kept = new Set<string>()
  for (const declared of file.tokens) {
    const account = await findAccount(store.read, declared.account)
    if (account === undefined) {
      throw new DeclarationRefused(
        `token '${declared.name}' names the account '${declared.account}', which does not exist`,
      )
    }
    const before = stored.find((t) => t.accountId === account.id && t.name === declared.name)
    const hash = declared.token === undefined ? undefined : engine.seal.hash(declared.token)
    if (before !== undefined && (hash === undefined || hash === before.hash)) {
      kept.add(before.id)
      await store.tx((tx) => updateToken(tx, before.id, changeOf(declared)))
      continue
    }
    const secret = declared.token ?? newSecret('sk-')
    await replaceToken(engine, declared, account.id, secret, before)
    if (declared.token === undefined) {
      made.push({ account: declared.account, name: declared.name, secret })
    }
  }
  for (const token of stored) {
    if (kept.has(token.id)) continue
    await store.tx((tx) => revokeToken(tx, token.id, clock.nowMs()))
  }
  return made
}

async function replaceToken(
  engine: Engine,
  declared: TokenDeclaration,
  accountId: string,
  secret: string,
  before: StoredToken | undefined,
): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const { expiresAtMs, ...rest } = changeOf(declared)
  await engine.store.tx(async (tx) => {
    if (before !== undefined) await revokeToken(tx, before.id, nowMs)
    await insertToken(tx, {
      id: newShortId('tok', nowMs),
      accountId,
      name: declared.name,
      hash: engine.seal.hash(secret),
      prefix: secret.slice(0, 8),
      ...rest,
      ...(expiresAtMs !== null && { expiresAtMs }),
      disabled: false,
      source: 'file',
      createdAtMs: nowMs,
    })
  })
}

const changeOf = (declared: TokenDeclaration) => ({
  models: declared.models ?? ['*'],
  limits: JSON.parse(JSON.stringify(declared.limits ?? {})),
  allowedIps: declared.allowed_ips ?? [],
  expiresAtMs: declared.expires_at === undefined ? null : Date.parse(declared.expires_at),
})

/** A version is added only when it differs from what this source said last. */
async function applyPrices(
  engine: Engine,
  declarations: readonly PriceDeclaration[],
  source: Source,
): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const stored = (await loadPrices(engine.store.read)).filter((price) => price.source === source)
  for (const declared of declarations) {
    const terms = termsFrom(declared)
    const startMs =
      declared.effective_from === undefined ? undefined : Date.parse(declared.effective_from)
    const earlier = stored.filter(({ model }) => model === declared.model)
    const said =
      startMs === undefined
        ? earlier.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, 1)
        : earlier.filter((price) => price.effectiveFromMs === startMs)
    if (said.some((price) => Bun.deepEquals(price.terms, terms, true))) continue
    const id = newShortId('price', nowMs)
    const price: Price = {
      id,
      model: declared.model,
      terms,
      effectiveFromMs: startMs ?? nowMs,
      source,
    }
    await engine.store.tx((tx) => insertPrice(tx, price, nowMs))
  }
}

// Codes for credit: made in bulk and shown once; a member redeems one for their account, once.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Seals } from '../../engine/base-deps.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  type Code,
  deleteCode,
  findCode,
  findCodeByHash,
  insertCodes,
  listCodes,
  redeemCode,
} from '../../store/ledger/codes.ts'
import { auditChange, listOf, notPermitted, time, timeOrNull, wrong } from '../answers.ts'
import { countGuess, takeBack } from '../people/guess-limits.ts'
import { forFinance, forMembers } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import {
  codeList,
  codeOrder,
  codeQuery,
  type code as codeSchema,
  newCodes,
  redeemed,
  redemption,
} from './code-schema.ts'

/** No letters or digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** Of five bits each. */
const letters = 20

const newCode = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(letters)), (byte) => alphabet[byte % 32]).join(
    '',
  )

/** People type spaces, dashes and small letters. */
const hashOf = ({ seal }: Seals, code: string): string =>
  seal.hash(`code ${code.replace(/[\s-]/g, '').toUpperCase()}`)

async function create({ engine, body, viewer, x }: Ask<{ body: typeof codeOrder }>) {
  const { amount, count = 1, note } = body
  const expiresAtMs = body.expires_at === undefined ? undefined : Date.parse(body.expires_at)
  if (expiresAtMs !== undefined && expiresAtMs <= x.atMs)
    return wrong('expires_at', 'is in the past')
  const made = Array.from({ length: count }, () => ({
    id: newShortId('code', x.atMs),
    code: newCode(),
  }))
  const shared = {
    amountNanos: parseNanos(amount)!,
    ...(note !== undefined && { note }),
    createdBy: viewer?.actor ?? 'gateway',
    createdAtMs: x.atMs,
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  }
  await engine.store.tx(async (tx) => {
    await insertCodes(
      tx,
      made.map(({ id, code }) => ({ ...shared, id, hash: hashOf(engine, code) })),
    )
    const subject = made[0]!.id
    await auditChange(tx, x, { action: 'code.create', subject, after: { ...body, count } })
  })
  return { items: made }
}

const viewOf = (code: Code, nowMs: number): View<typeof codeSchema> => ({
  id: code.id,
  amount: formatNanos(code.amountNanos),
  state: stateOf(code, nowMs),
  account: code.account ?? null,
  redeemed_at: timeOrNull(code.redeemedAtMs),
  expires_at: timeOrNull(code.expiresAtMs),
  note: code.note ?? null,
  created_by: code.createdBy,
  created_at: time(code.createdAtMs),
})

function stateOf({ redeemedAtMs, expiresAtMs }: Code, nowMs: number) {
  if (redeemedAtMs !== undefined) return 'redeemed'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'open'
}

async function withdraw({ engine, id, found, x }: Ask<{ found: Code }>) {
  const before = { amount: formatNanos(found.amountNanos) }
  const isGone = await engine.store.tx(async (tx) => {
    if (!(await deleteCode(tx, id))) return false
    await auditChange(tx, x, { action: 'code.delete', subject: id, before })
    return true
  })
  return isGone ? { id, deleted: true as const } : alreadyRedeemed
}

const alreadyRedeemed = refuse('conflict', 'this code has been redeemed')

async function redeem(ask: Ask<{ body: typeof redemption }>) {
  const { engine, body, viewer, x } = ask
  const { accountId, personId } = viewer ?? {}
  if (viewer?.role !== 'member' || accountId === undefined) return notPermitted(viewer!)
  const guess = await countGuess(engine, x, `code ${personId}`)
  if (guess instanceof Refusal) return guess
  const code = await findCodeByHash(engine.store.read, hashOf(engine, body.code))
  if (code === undefined) return refuse('not_found', 'there is no such code', { param: 'code' })
  await takeBack(engine, guess)
  const done = await credit(ask, code, accountId)
  if (done instanceof Refusal) return done
  const { balanceNanos } = (await findAccount(engine.store.read, accountId))!
  return {
    id: code.id,
    amount: formatNanos(code.amountNanos),
    currency: engine.declared.file.currency,
    balance: formatNanos(balanceNanos),
  }
}

/** The code and the credit in one transaction: a second member with the same code comes too late. */
async function credit(
  { engine, x }: Ask<{ body: typeof redemption }>,
  { id, amountNanos, note }: Code,
  accountId: string,
): Promise<Refusal | undefined> {
  const said = note === undefined ? `code ${id}` : `code ${id}: ${note}`
  const step = engine.ledger.credit(accountId, amountNanos, { ref: id, note: said, atMs: x.atMs })
  const done = await step.commit(() =>
    engine.store.tx(async (tx) => {
      if (!(await redeemCode(tx, id, { accountId, atMs: x.atMs }))) return 'repeated' as const
      const written = await step.write(tx)
      const after = { account: accountId, amount: formatNanos(amountNanos) }
      await auditChange(tx, x, { action: 'code.redeem', subject: id, after })
      return written
    }, accountId),
  )
  engine.jobs.emptyAccounts.credited(accountId)
  if (done === 'done') return undefined
  const now = await findCode(engine.store.read, id)
  return now?.redeemedAtMs === undefined
    ? refuse('conflict', 'this code has expired or was withdrawn')
    : alreadyRedeemed
}

const route = routesOf({
  tag: 'Codes',
  thing: 'code',
  param: 'Id of a code.',
  permission: forFinance,
  find: ({ store }, id) => findCode(store.read, id),
})

export const codeRoutes = [
  route('POST /codes', {
    id: 'createCodes',
    summary: 'Make codes that members redeem for credit',
    body: codeOrder,
    examples: { many: { amount: '20.00', count: 100, note: 'spring campaign' } },
    answer: newCodes,
    status: 201,
    returns: 'The codes, this once.',
    handle: create,
  }),
  route('GET /codes', {
    id: 'listCodes',
    summary: 'List codes, newest first',
    query: codeQuery,
    answer: codeList,
    handle: async ({ engine, page, x }) =>
      listOf(await listCodes(engine.store.read, page), (code) => viewOf(code, x.atMs)),
  }),
  route('POST /codes/redeem', {
    id: 'redeemCode',
    permission: forMembers,
    summary: 'Redeem a code for the own account',
    description: 'Wrong codes are slowed down as failed sign-ins are.',
    body: redemption,
    examples: { plain: { code: 'ABCDEFGHJKLMNPQRSTUV' } },
    answer: redeemed,
    returns: 'What was credited.',
    refusals: ['conflict', 'rate_limit_exceeded'],
    handle: redeem,
  }),
  route('DELETE /codes/:id', {
    id: 'deleteCode',
    summary: 'Withdraw a code that was not redeemed',
    answer: deleted,
    refusals: ['conflict'],
    handle: withdraw,
  }),
]

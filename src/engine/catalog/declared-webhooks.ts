// Applies the subscriptions of gateway.yaml to the store. The address is the identity of one: it keeps
// its deliveries, and its secret if the file gives none.
import { createHash } from 'node:crypto'
import type { FileDeclaration } from '../../contract/config-schema/index.ts'
import { rulesFrom, type WebhookDeclaration } from '../../contract/notices/webhooks.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { newWebhookSecret } from '../../lib/net/webhook.ts'
import { syncFeeds } from '../../store/deliveries/feeds.ts'
import { dropWaiting } from '../../store/deliveries/notices.ts'
import { deleteWebhook, listWebhooks, putWebhook } from '../../store/deliveries/webhooks.ts'
import type { Tx } from '../../store/index.ts'

interface WebhookDeps {
  readonly seal: Seal
  readonly clock: Clock
}

/** A secret that was made for an address, to be shown once. */
interface MadeSecret {
  address: string
  secret: string
}

export async function applyWebhooks(
  { seal, clock }: WebhookDeps,
  tx: Tx,
  { webhooks: declared }: FileDeclaration,
): Promise<MadeSecret[]> {
  const stored = (await listWebhooks(tx)).filter(({ source }) => source === 'file')
  const nowMs = clock.nowMs()
  const stay = new Set(declared.map((each) => idOf(addressIn(each))))
  for (const { id } of stored) if (!stay.has(id)) await deleteWebhook(tx, id)
  const made: MadeSecret[] = []
  for (const each of declared) {
    const address = addressIn(each)
    const id = idOf(address)
    const before = stored.find((known) => known.id === id)
    const { format } = each
    const isSigned = each.email === undefined
    const fresh =
      isSigned &&
      isOwnForm(format) &&
      before?.secretCiphertext === undefined &&
      each.secret === undefined
    const secret = each.secret ?? (fresh ? newWebhookSecret() : undefined)
    if (fresh) made.push({ address, secret: secret! })
    const kept = isOwnForm(format) ? before?.secretCiphertext : undefined
    const sealed = secret === undefined ? kept : seal.encrypt(secret, id)
    await putWebhook(tx, {
      ...{ id, address, events: each.events, rules: rulesFrom(each.rules) },
      ...(format !== undefined && { format }),
      ...(isSigned && sealed !== undefined && { secretCiphertext: sealed }),
      disabled: each.disabled ?? false,
      source: 'file',
      createdAtMs: before?.createdAtMs ?? nowMs,
    })
    if (each.disabled === true) await dropWaiting(tx, id, nowMs)
  }
  await syncFeeds(tx)
  return made
}

/** Those of chat tools are signed with the tool's secret, or not at all. */
const isOwnForm = (format: WebhookDeclaration['format'] = 'json'): boolean => format === 'json'

const addressIn = ({ url, email }: WebhookDeclaration): string => url ?? `mailto:${email}`

/** The same at every gateway that has the file. */
const idOf = (address: string): string =>
  `whk_${createHash('sha256').update(address).digest('hex').slice(0, 22)}`

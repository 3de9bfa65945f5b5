// Subscriptions to notices: made, changed, deleted, tested, and what was delivered to them. Secrets go
// in or are made here, and are shown once.
import type { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import { rulesFrom, secretProblem } from '../../contract/notices/webhooks.ts'
import { callbackRules } from '../../engine/callbacks/callback-url.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { previewAddress } from '../../lib/net/address-guard.ts'
import { newWebhookSecret } from '../../lib/net/webhook.ts'
import { syncFeeds } from '../../store/deliveries/feeds.ts'
import { dropWaiting, listDeliveries, notifyThese } from '../../store/deliveries/notices.ts'
import {
  deleteWebhook,
  findWebhook,
  listWebhooks,
  putWebhook,
  type Webhook,
} from '../../store/deliveries/webhooks.ts'
import { auditChange, listOf, pageOfList } from '../answers.ts'
import { forOperators } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { deleted } from '../schema.ts'
import {
  delivery,
  deliveryList,
  webhookChange,
  webhookCreation,
  webhookList,
  webhookQuery,
  webhook as webhookSchema,
  webhookWithSecret,
} from './webhook-schema.ts'
import { deliveryView, view } from './webhook-view.ts'

/** Every notice is compared with all of them. */
const maxWebhooks = 100

/** Where notices go: refused when it may not be asked, or there is no way to send there. */
function addressIn(
  engine: Pick<Engine, 'egressAllow' | 'mailer' | 'missingForMail'>,
  { url, email }: { url?: string | undefined; email?: string | undefined },
): string | Refusal {
  if (email !== undefined) {
    if (engine.mailer !== undefined) return `mailto:${email}`
    const missing = engine.missingForMail.join(' and ')
    const message = `e-mail cannot be sent: ${missing} must be set where the gateway starts`
    return refuse('invalid_request', message, { param: 'email' })
  }
  const checked = previewAddress(url ?? '', callbackRules(engine))
  if ('problem' in checked) {
    return refuse('invalid_request', `'url' cannot be used: ${checked.problem}`, { param: 'url' })
  }
  checked.hash = ''
  return checked.href
}

async function create({ engine, body, x }: Ask<{ body: typeof webhookCreation }>) {
  const { store, seal } = engine
  const address = addressIn(engine, body)
  if (address instanceof Refusal) return address
  const { format = 'json' } = body
  const isOwn = body.email === undefined && format === 'json'
  const secret = body.secret ?? (isOwn ? newWebhookSecret() : undefined)
  const id = newShortId('whk', x.atMs)
  const made: Webhook = {
    ...{ id, address, events: body.events, rules: rulesFrom(body.rules) },
    ...(format !== 'json' && { format }),
    ...(secret !== undefined && { secretCiphertext: seal.encrypt(secret, id) }),
    disabled: body.disabled ?? false,
    source: 'api',
    createdAtMs: x.atMs,
  }
  const isFull = await store.tx(async (tx) => {
    if ((await listWebhooks(tx)).length >= maxWebhooks) return true
    await putWebhook(tx, made)
    await syncFeeds(tx)
    await auditChange(tx, x, { action: 'webhook.create', subject: id, after: view(made) })
    return false
  })
  if (isFull) return refuse('conflict', `there are ${maxWebhooks} subscriptions already`)
  await announce(engine, noTokens)
  return { ...view(made), ...(isOwn && { secret: secret! }) }
}

async function update({
  engine,
  id,
  body,
  x,
}: Ask<{ body: typeof webhookChange; found: Webhook }>) {
  const { url, email, secret } = body
  const address = url === undefined && email === undefined ? undefined : addressIn(engine, body)
  if (address instanceof Refusal) return address
  const changed = await engine.store.tx(async (tx) => {
    const before = (await findWebhook(tx, id))!
    if (before.source === 'file') return fileOwned
    const after = changedBy(before, body, address)
    if (after instanceof Refusal) return after
    const sealed = secret === undefined ? undefined : engine.seal.encrypt(secret, id)
    await putWebhook(tx, { ...after, ...(sealed !== undefined && { secretCiphertext: sealed }) })
    if (after.disabled) await dropWaiting(tx, id, x.atMs)
    await syncFeeds(tx)
    const change = { before: view(before), after: view(after) }
    await auditChange(tx, x, { action: 'webhook.update', subject: id, ...change })
    return view(after)
  })
  if (!(changed instanceof Refusal)) await announce(engine, noTokens)
  return changed
}

function changedBy(
  before: Webhook,
  body: z.output<typeof webhookChange>,
  address: string = before.address,
): Webhook | Refusal {
  const events = body.events ?? before.events
  const rules = body.rules === undefined ? before.rules : rulesFrom(body.rules)
  const wrong = (param: string, message: string) => refuse('invalid_request', message, { param })
  if (events.includes('error_rate') && rules.length === 0) {
    return wrong('rules', "'rules' must say when error_rate is told")
  }
  const isMail = address.startsWith('mailto:')
  if (isMail !== before.address.startsWith('mailto:')) {
    return wrong(isMail ? 'email' : 'url', 'a subscription stays with HTTP, or with e-mail')
  }
  if (isMail && body.secret !== undefined) return wrong('secret', 'e-mail is not signed')
  const unfit =
    body.secret === undefined ? undefined : secretProblem(before.format ?? 'json', body.secret)
  if (unfit !== undefined) return wrong('secret', `'secret' ${unfit}`)
  return { ...before, address, events, rules, disabled: body.disabled ?? before.disabled }
}

const fileOwned = refuse(
  'conflict',
  'this subscription is declared in gateway.yaml; change it there',
)

async function remove({ engine, id, found, x }: Ask<{ found: Webhook }>) {
  if (found.source === 'file') return fileOwned
  await engine.store.tx(async (tx) => {
    await deleteWebhook(tx, id)
    await syncFeeds(tx)
    await auditChange(tx, x, { action: 'webhook.delete', subject: id, before: view(found) })
  })
  await announce(engine, noTokens)
  return { id, deleted: true as const }
}

const pollMs = 50
/** A receiver that takes longer is shown by the deliveries. */
const maxPolls = 100

/** Answers after the first attempt. */
async function sendTest({ engine, found, x }: Ask<{ found: Webhook }>) {
  const { store, jobs } = engine
  const data = { message: 'a test of notices' }
  const noticeId = await store.tx((tx) =>
    notifyThese(tx, { type: 'test', atMs: x.atMs, data }, [found]),
  )
  jobs.notices.wake()
  const of = { webhookId: found.id, ...(noticeId !== undefined && { noticeId }), limit: 1 }
  let isTried = false
  for (let polls = 0; ; polls++) {
    const { items } = await listDeliveries(store.read, of)
    const story = items[0]
    if (story === undefined) return refuse('not_found', 'the subscription was deleted')
    // The state is read before the attempts: after an attempt was seen, it is read once more.
    const isKnown = isTried && story.attempts.length > 0
    if (isKnown || polls >= maxPolls) return deliveryView(story)
    isTried = story.attempts.length > 0
    if (!isTried) await Bun.sleep(pollMs)
  }
}

const route = routesOf({
  tag: 'Notices',
  thing: 'webhook',
  permission: forOperators,
  find: ({ store }, id) => findWebhook(store.read, id),
})

export const webhookRoutes = [
  route('POST /webhooks', {
    id: 'createWebhook',
    summary: 'Subscribe to notices, by HTTP or by e-mail',
    description:
      'Notices are signed as Standard Webhooks has it; the secret is in this answer only. Messages of chat tools are sent as those take them.',
    body: webhookCreation,
    examples: {
      http: { url: 'https://hooks.example/notices', events: ['balance.low', 'channel.down'] },
      chat: {
        url: 'https://hooks.example/services/T0/B0/x',
        format: 'slack',
        events: ['channel.down'],
      },
      errors: {
        url: 'https://hooks.example/errors',
        events: ['error_rate'],
        rules: [{ model: 'txta-plus', above: 0.2, over: '5m', min: 20 }],
      },
    },
    answer: webhookWithSecret,
    status: 201,
    returns: 'The subscription, with its secret.',
    refusals: ['conflict'],
    handle: create,
  }),
  route('GET /webhooks', {
    id: 'listWebhooks',
    summary: 'List subscriptions to notices',
    query: webhookQuery,
    answer: webhookList,
    handle: async ({ engine, page }) =>
      listOf(
        pageOfList(await listWebhooks(engine.store.read), ({ id }) => id, page),
        view,
      ),
  }),
  route('GET /webhooks/:id', {
    id: 'getWebhook',
    summary: 'Get a subscription',
    answer: webhookSchema,
    handle: ({ found }) => view(found),
  }),
  route('PATCH /webhooks/:id', {
    id: 'changeWebhook',
    summary: 'Change a subscription',
    description: 'Lists are replaced as a whole. Disabled, it drops what it has not sent.',
    body: webhookChange,
    examples: { events: { events: ['balance.low'] }, disabled: { disabled: true } },
    answer: webhookSchema,
    refusals: ['conflict'],
    handle: update,
  }),
  route('DELETE /webhooks/:id', {
    id: 'deleteWebhook',
    summary: 'Delete a subscription, with its deliveries',
    answer: deleted,
    refusals: ['conflict'],
    handle: remove,
  }),
  route('POST /webhooks/:id/test', {
    id: 'testWebhook',
    summary: 'Send a notice of type test',
    description: 'Answers after the first attempt, or after 5 seconds.',
    answer: delivery,
    returns: 'The delivery, with its attempt.',
    handle: sendTest,
  }),
  route('GET /webhooks/:id/deliveries', {
    id: 'listNoticeDeliveries',
    summary: 'Notices sent to a subscription, with every attempt, newest first',
    query: webhookQuery,
    answer: deliveryList,
    handle: async ({ engine, found, page }) =>
      listOf(
        await listDeliveries(engine.store.read, { ...page, webhookId: found.id }),
        deliveryView,
      ),
  }),
]

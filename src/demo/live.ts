// What customers do while the demonstration runs: a call every few seconds, over HTTP like any caller's.
import type { Interface } from '../contract/catalog.ts'
import { type Customer, customers } from './company.ts'
import type { Secrets } from './history.ts'
import { type DemoModel, demoModel } from './offer.ts'
import type { Random } from './random.ts'
import { activityAt } from './working-day.ts'

interface Traffic {
  /** Of the gateway. */
  url: string
  random: Random
  secrets: Secrets
  /** Ends it. */
  signal: AbortSignal
}

const pauseMs = [2_000, 9_000] as const
/** After so many calls who looks has seen that something happens; then it goes at the pace of the history. */
const quickCalls = 30
const laterPauseMs = [60_000, 240_000] as const
const batchLines = 5

const questions = [
  'Summarise the attached minutes in five points.',
  'Translate this paragraph into Greek, formally.',
  'Which of these tickets are about billing?',
  'Write a product text for a ceramic cup, 80 words.',
  '请把这段话改写得更简洁。',
  'このメールに丁寧な返信を書いてください。',
  'Explain the difference between the two drafts.',
  'Find the clause about termination and quote it.',
]

/** Resolves when it is ended. */
export async function runTraffic(traffic: Traffic): Promise<void> {
  const { random, signal } = traffic
  await startBatches(traffic).catch(() => {})
  for (let call = 0; !signal.aborted; call++) {
    const nowMs = Date.now()
    const awake = customers.map((customer) => ({
      customer,
      weight: customer.perDay * activityAt(customer.zone, nowMs),
    }))
    void callOnce(traffic, random.weighted(awake).customer).catch(() => {})
    const [fromMs, toMs] = call < quickCalls ? pauseMs : laterPauseMs
    await wait(random.between(fromMs, toMs), signal)
  }
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

async function callOnce(traffic: Traffic, customer: Customer): Promise<void> {
  const { random } = traffic
  const model = demoModel(random.weighted(customer.uses).model)
  const token = random.weighted(customer.tokens).name
  const path = paths[model.interfaces[0]!]
  if (path === undefined) return
  const answer = await send(traffic, { customer, token, path, body: bodyOf(model, random) })
  await answer.arrayBuffer()
}

const paths: Partial<Record<Interface, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  // In another style than the upstream's: the gateway translates.
  generate: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  rerank: '/v1/rerank',
  moderations: '/v1/moderations',
  speech: '/v1/audio/speech',
  images: '/v1/images/generations',
  videos: '/v1/videos',
}

function bodyOf({ name, kind }: DemoModel, random: Random): object {
  const question = random.pick(questions)
  // The sandbox does what such words say.
  const content = random.next() < 0.02 ? `[[sim:status=500]] ${question}` : question
  switch (kind) {
    case 'embedding':
    case 'moderation':
      return { model: name, input: question }
    case 'rerank':
      return { model: name, query: question, documents: questions }
    case 'speech':
      return { model: name, input: question, voice: 'alloy' }
    case 'image':
      return { model: name, prompt: 'A ceramic cup in soft window light' }
    case 'video':
      return { model: name, prompt: 'A tram in the evening sun', seconds: 5, resolution: '720p' }
    default: {
      const messages = [{ role: 'user', content: `${content} ${'context '.repeat(400)}` }]
      return { model: name, messages, max_tokens: 400, stream: random.next() < 0.6 }
    }
  }
}

interface Call {
  customer: Pick<Customer, 'name'>
  token: string
  path: string
  body: object | FormData
}

function send({ url, secrets, signal }: Traffic, call: Call): Promise<Response> {
  const { customer, token, path, body } = call
  const isForm = body instanceof FormData
  return fetch(`${url}${path}`, {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${secrets.tokenOf(customer.name, token)}`,
      ...(!isForm && { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  })
}

/** A night's work of one customer, in a file. */
async function startBatches(traffic: Traffic): Promise<void> {
  const by = { customer: { name: 'initech-support' }, token: 'batch-export' }
  for (const model of ['gpt-5-mini', 'claude-haiku-4.5']) {
    const endpoint = '/v1/chat/completions'
    const lines = Array.from({ length: batchLines }, (_, at) => {
      const messages = [
        { role: 'user', content: `Ticket ${at + 1}: ${traffic.random.pick(questions)}` },
      ]
      const body = { model, messages, max_tokens: 200 }
      return JSON.stringify({ custom_id: `ticket-${at + 1}`, method: 'POST', url: endpoint, body })
    })
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([`${lines.join('\n')}\n`]), 'tickets.jsonl')
    const file = await send(traffic, { ...by, path: '/v1/files', body: form })
    const { id: input_file_id } = (await file.json()) as { id: string }
    const order = { input_file_id, endpoint, completion_window: '24h' }
    await (await send(traffic, { ...by, path: '/v1/batches', body: order })).arrayBuffer()
  }
}

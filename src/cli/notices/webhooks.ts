// gateway webhook: subscriptions to notices, and what was delivered to them.
import {
  delivery,
  webhook,
  webhookChange,
  webhookCreation,
  webhookQuery,
} from '../../admin/notices/webhook-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Flags } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, record, rowsOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

const ruleForm = 'model=NAME:ABOVE:OVER:MIN'

const ruleFlags: Flags = {
  rule: {
    value: ruleForm,
    many: true,
    summary: 'when error_rate is told, such as model=txta-plus:0.2:5m:20, or channel=NAME:…',
  },
}

function rulesIn(line: Line): object {
  const texts = line.texts('rule')
  return texts.length === 0 ? {} : { rules: texts.map(ruleOf) }
}

function ruleOf(text: string): object {
  // A name may have colons; what follows it has none.
  const parts = /^(model|channel)=(.+):([\d.]+):(\d+(?:ms|s|m|h)):(\d+)$/.exec(text)
  if (parts === null) throw misuse(`--rule takes ${ruleForm} or channel=…, not '${text}'`)
  const [, of = '', name, above, over, min] = parts
  return { [of]: name, above: Number(above), over, min: Number(min) }
}

const input = {
  without: ['rules'],
  // --url is the address of the gateway, which gets the admin token.
  flags: { url: 'receiver' },
  repeated: { events: ['event', 'TYPE'] },
} as const

const secretText = (answer: Row): string =>
  answer['secret'] === undefined
    ? ''
    : `${cell(answer['secret'])}\n\nKeep it now: this secret is shown only once.\n\n`

function testText(answer: Row): string {
  const attempt = rowsOf(answer['attempts']).at(-1) ?? {}
  return `${cell(answer['id'])}  ${cell(answer['state'])}  ${cell(attempt['error'] ?? attempt['status'])}`
}

export const webhookCommands: readonly Command[] = [
  askCommand({
    path: ['webhook', 'create'],
    summary: 'subscribe an address to notices and show the secret once',
    call: 'POST /webhooks',
    input: { schema: webhookCreation, ...input },
    flags: ruleFlags,
    body: ({ line }) => rulesIn(line),
    text: (answer) => `${secretText(answer)}${record(answer, ['secret'])}`,
  }),
  listCommand(
    { path: ['webhook', 'list'], summary: 'all subscriptions to notices' },
    { path: '/webhooks', what: 'webhooks', item: webhook, query: webhookQuery },
  ),
  askCommand({
    path: ['webhook', 'update'],
    args: ['ID'],
    summary: 'change a subscription',
    call: 'PATCH /webhooks/:id',
    input: { schema: webhookChange, ...input },
    flags: ruleFlags,
    body: ({ line }) => rulesIn(line),
  }),
  askCommand({
    path: ['webhook', 'delete'],
    args: ['ID'],
    summary: 'end a subscription',
    call: 'DELETE /webhooks/:id',
    text: (_, { line }) => `deleted ${cell(line.arg(0))}`,
  }),
  askCommand({
    path: ['webhook', 'test'],
    args: ['ID'],
    summary: 'send a notice of type test, now',
    call: 'POST /webhooks/:id/test',
    text: testText,
    ok: ({ state }) => state === 'delivered',
  }),
  listCommand(
    {
      path: ['webhook', 'deliveries'],
      args: ['ID'],
      summary: 'notices sent to a subscription, newest first',
    },
    { path: '/webhooks/:id/deliveries', what: 'deliveries', item: delivery, query: webhookQuery },
  ),
]

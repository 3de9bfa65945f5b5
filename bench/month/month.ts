// The end of a month for 200 customers: their bills are closed, numbered, rendered as one archive and sent over a fake
// mail server. CPU of the gateway for each step. Refuses to know how bills are made.
import { join } from 'node:path'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import { openStore } from '../../src/store/index.ts'
import { openPast } from '../../test/support/data/past-months.ts'
import { startMailServer } from '../../test/support/mail-server.ts'
import { adminToken, gatewayConfig } from '../lib/gateway-config.ts'
import { note, type PartResult, type Run, workspaceFor } from '../lib/part.ts'
import { cpuMicros } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { checkMonth, formatMonth, type MonthStep } from './report.ts'

const customers = 200
const chargesEach = 60
const models = ['txta-plus', 'txta-turbo', 'txta-embed']
const month = monthPlus(monthAt(Date.now()), -1)

export const monthSeconds = 180

export async function runMonth(run: Run): Promise<PartResult> {
  const workspace = { ...workspaceFor(run, 'month'), upstreamPort: 9 }
  note(`month: filling ${customers} customers ...`)
  await fill(join(workspace.tempDir, 'data'))
  const server = await startMailServer({ hideSTARTTLS: true })
  try {
    const gateway = await startGateway(workspace, run.options.gatewayCommand, [], {
      config: gatewayConfig([]),
      env: {
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        GATEWAY_SMTP_FROM: 'bills@mail.example',
      },
    })
    const steps = [
      await measured(gateway, 'close and number', () => allPages(gateway, '/bills/close-all')),
      await measured(gateway, 'render', () => archive(gateway)),
      await measured(gateway, 'send', () => allPages(gateway, '/bills/send-all')),
    ]
    return {
      setting: `month: ${customers} customers with ${chargesEach} charges each`,
      tables: [formatMonth(steps)],
      verdicts: checkMonth(steps, server.mails.length, customers),
      figures: { month: steps },
    }
  } finally {
    await server.stop()
  }
}

async function fill(dataDir: string): Promise<void> {
  const store = await openStore({ dataDir })
  for (let n = 0; n < customers; n++) {
    const charges = Array.from({ length: chargesEach }, (_, i) => ({
      ...{ month, kind: 'charge' as const, amountNanos: BigInt(-1_000_003 * (i + 1)) },
      ...{ model: models[i % models.length]!, unit: 'token', quantity: 1_000 + i },
    }))
    const credit = { month, kind: 'credit' as const, amountNanos: 5_000_000_000n, note: 'wire' }
    const id = await openPast(store, `customer-${1_000 + n}`, [credit, ...charges])
    const email = `customer-${n}@books.example`
    await store.tx((tx) => tx.updateTable('accounts').set({ email }).where('id', '=', id).execute())
  }
  await store.close()
}

async function measured(
  { pids }: Target,
  name: string,
  work: () => Promise<number>,
): Promise<MonthStep> {
  const [startMicros, startMs] = [cpuMicros(pids), performance.now()]
  const done = await work()
  const seconds = (performance.now() - startMs) / 1000
  return { name, done, cpuSeconds: (cpuMicros(pids) - startMicros) / 1_000_000, seconds }
}

const ask = (gateway: Target, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${gateway.port}/admin/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
  })

async function allPages(gateway: Target, path: string): Promise<number> {
  let cursor: string | null = null
  let done = 0
  do {
    const body = JSON.stringify({ month, ...(cursor !== null && { cursor }) })
    const answer = await ask(gateway, path, { method: 'POST', body })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    const page = (await answer.json()) as {
      closed: number
      sent?: number
      next_cursor: string | null
    }
    // Sent ones are those of all calls, closed ones those of this call.
    done = page.sent ?? done + page.closed
    cursor = page.next_cursor
  } while (cursor !== null)
  return done
}

/** Its size, and that it is a whole archive. */
async function archive(gateway: Target): Promise<number> {
  const bytes = await (await ask(gateway, `/bills/archive?month=${month}`)).bytes()
  const end = new DataView(bytes.buffer, bytes.length - 22)
  return end.getUint32(0, true) === 0x06054b50 ? end.getUint16(10, true) - 1 : 0
}

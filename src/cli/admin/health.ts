// gateway health: whether a gateway takes calls, for supervisors that run a command to find out. Exit
// code 0 or 1 and nothing in between, as such supervisors know no other.
import type { Command, Env } from '../terminal/command.ts'
import { cell, rowOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

const limitMs = 4_000
const everywhere = ['0.0.0.0', '::', '[::]', '']

/** Where the settings say that it listens, which need not be this machine's loopback. */
function addressOf(url: string, given: string | undefined, env: Env): string {
  const host = env['GATEWAY_HOST'] ?? ''
  if (given !== undefined || env['GATEWAY_URL'] || everywhere.includes(host)) return url
  const plain = host.replace(/^\[(.*)\]$/, '$1')
  return `http://${plain.includes(':') ? `[${plain}]` : plain}:${env['GATEWAY_PORT'] || '8080'}`
}

async function ask(url: string): Promise<{ status: string; ok: boolean }> {
  try {
    const answer = await fetch(`${url}/readyz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
    })
    const body: unknown = await answer.json().catch(() => undefined)
    const status = rowOf(body)['status'] ?? `status ${answer.status}`
    return { status: cell(status), ok: answer.status === 200 }
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string }
    return { status: name === 'TimeoutError' ? 'no answer in time' : (code ?? 'away'), ok: false }
  }
}

export const healthCommand: Command = {
  path: ['health'],
  args: [],
  summary: 'whether it takes calls: exit code 0, otherwise 1',
  flags: {},
  async run({ line, url, env }) {
    if (!URL.canParse(url)) throw misuse(`'${url}' is not an address`)
    const { status, ok } = await ask(addressOf(url, line.text('url'), env))
    return { answer: { status, ok }, text: status, ok }
  },
}

// gateway callback and gateway task callback: sending a callback again, and the secret that receivers
// check it with.

import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { segment } from '../terminal/list.ts'
import { cell, type Row, rowOf, rowsOf } from '../terminal/show.ts'
import { exitCodes, Stop } from '../terminal/stop.ts'

const pollEveryMs = 250
/** An attempt takes 15 s at most, and may have to wait for others. */
const maxPolls = 120

async function resend({ line, admin }: Context): Promise<Outcome> {
  const path = `/tasks/${segment(line.arg(0))}`
  const before = lastAttempt(await admin.ask('POST', `${path}/callback`))
  for (let polls = 0; polls < maxPolls; polls++) {
    const answer = await admin.ask('GET', path)
    const attempt = lastAttempt(answer)
    if (attempt['at'] !== before['at']) {
      const callback = rowOf(rowOf(answer)['callback'])
      const came = attempt['status'] ?? attempt['error']
      const text = `${cell(callback['id'])}  ${cell(callback['state'])}  ${cell(came)}`
      return { answer, text, ok: callback['state'] === 'delivered' }
    }
    await Bun.sleep(pollEveryMs)
  }
  throw new Stop(exitCodes.refused, 'nothing was sent yet; gateway task show tells how it goes on')
}

const account = { value: 'NAME', summary: 'of this account' }

const lastAttempt = (task: unknown): Row =>
  rowsOf(rowOf(rowOf(task)['callback'])['attempts']).at(-1) ?? {}

export const callbackCommands: readonly Command[] = [
  {
    path: ['task', 'callback'],
    args: ['ID'],
    summary: 'send the callback of a task again, now',
    flags: {},
    run: resend,
  },
  askCommand({
    path: ['callback', 'secret'],
    summary: 'the secret that callbacks of an account are signed with',
    flags: { account },
    call: 'GET /callback-secret',
    query: ({ line }) => ({ account: line.text('account') }),
    text: secretText,
  }),
  {
    path: ['callback', 'rotate'],
    args: [],
    summary: 'another callback secret for an account; the old one signs along for a day',
    flags: { account: { ...account, required: true } },
    async run({ line, admin }) {
      const path = `/accounts/${segment(line.text('account') ?? '')}/callback-secret/rotate`
      const answer = await admin.ask('POST', path)
      return { answer, text: secretText(rowOf(answer)) }
    },
  },
]

function secretText({ secret }: Row): string {
  return secret === null ? 'set in gateway.yaml, as callbacks.secret' : cell(secret)
}

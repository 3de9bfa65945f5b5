// gateway callback, and gateway task callback: telling a receiver once more, and what it checks the
// telling with.
import { type Command, type Context, exitCodes, type Outcome, Stop } from './command.ts'
import { segment } from './list.ts'
import { cell, type Row, rowOf, rowsOf } from './show.ts'

const lookEveryMs = 250
/** An attempt takes 15 s at most, and may have to wait for others. */
const mostLooks = 120

async function resend({ line, admin }: Context): Promise<Outcome> {
  const path = `/tasks/${segment(line.arg(0))}`
  const before = lastAttempt(await admin.ask('POST', `${path}/callback`))
  for (let looks = 0; looks < mostLooks; looks++) {
    const answer = await admin.ask('GET', path)
    const attempt = lastAttempt(answer)
    if (attempt['at'] !== before['at']) {
      const callback = rowOf(rowOf(answer)['callback'])
      const came = attempt['status'] ?? attempt['error']
      const text = `${cell(callback['id'])}  ${cell(callback['state'])}  ${cell(came)}`
      return { answer, text, ok: callback['state'] === 'delivered' }
    }
    await Bun.sleep(lookEveryMs)
  }
  throw new Stop(exitCodes.refused, 'nothing was sent yet; gateway task show tells how it goes on')
}

const lastAttempt = (task: unknown): Row =>
  rowsOf(rowOf(rowOf(task)['callback'])['attempts']).at(-1) ?? {}

export const callbackCommands: readonly Command[] = [
  {
    path: ['task', 'callback'],
    args: ['ID'],
    summary: 'tell the receiver of a task once more, now',
    flags: {},
    run: resend,
  },
  {
    path: ['callback', 'secret'],
    args: [],
    summary: 'the secret that callbacks are signed with',
    flags: {},
    async run({ admin }) {
      const answer = await admin.ask('GET', '/callback-secret')
      const { secret } = rowOf(answer)
      const text = secret === null ? 'set in gateway.yaml, as callbacks.secret' : cell(secret)
      return { answer, text }
    },
  },
]

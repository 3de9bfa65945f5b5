// A link to a bill, sent by e-mail.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { BillLink } from '../../store/ledger/bill-links.ts'
import { notPermitted, time } from '../answers.ts'
import type { Ask } from '../route.ts'
import type { linkQuery } from './closing-schema.ts'

/** Members send no mail: the gateway would be a way to reach any address in its name. */
export function mailProblem({ engine, query, viewer }: Ask<{ query: typeof linkQuery }>) {
  if (query.email === undefined) return undefined
  if (viewer?.role === 'member') return notPermitted(viewer)
  if (engine.mailer !== undefined) return undefined
  return refuse('invalid_request', cannotMail(engine), { param: 'email' })
}

export const cannotMail = ({ missingForMail }: Pick<Engine, 'missingForMail'>): string =>
  `e-mail cannot be sent: ${missingForMail.join(' and ')} must be set where the gateway starts`

interface LinkMail extends BillLink {
  /** Who it belongs to, as on its bills. */
  account: string
  url: string
}

/** To the address that the link has; why it was not sent. */
export async function mailLink(
  { engine, x }: Ask<{ query: typeof linkQuery }>,
  link: LinkMail,
): Promise<Refusal | undefined> {
  const { email: to } = link
  if (to === undefined) return undefined
  const id = newId('mail', x.atMs)
  const sent = await engine.mailer!.send({ id, to, ...mailText(link), atMs: x.atMs })
  if (sent.status !== undefined && sent.status < 300) return undefined
  const why = sent.problem ?? 'the mail server did not take it'
  return refuse('conflict', `the e-mail was not sent: ${why}`, { param: 'email' })
}

function mailText({ language, account, month, url, expiresAtMs }: LinkMail) {
  const until = time(expiresAtMs)
  return language === 'zh'
    ? {
        subject: `${account} ${month} 账单`,
        text: `${account} 的 ${month} 账单：\n\n${url}\n\n链接有效期至 ${until}。\n`,
      }
    : {
        subject: `Bill of ${account} for ${month}`,
        text: `The bill of ${account} for ${month}:\n\n${url}\n\nThe link works until ${until}.\n`,
      }
}

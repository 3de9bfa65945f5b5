// Checks the mail server that notices are sent by: it is there, offers what the settings need, and takes
// the sign-in. No mail is sent.
import type { Config } from '../../config/index.ts'
import { verifyMailServer } from '../../lib/net/mailer.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const check = 'mail'

export async function checkMail({
  mail,
  missingForMail,
}: Pick<Config, 'mail' | 'missingForMail'>): Promise<Finding[]> {
  if (mail === undefined) return missingForMail.length === 1 ? [half(missingForMail[0]!)] : []
  const { host, port, isTls, auth } = mail
  const at = `${isTls ? 'smtps' : 'smtp'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const found = await verifyMailServer(mail)
  if (found === undefined) {
    const signIn = auth === undefined ? 'no sign-in is set' : 'the sign-in is taken'
    return [ok(check, `${at} answers; ${signIn}`)]
  }
  return [problem(check, `${at}: ${found}`, adviceOf(found))]
}

const half = (missing: string): Finding =>
  warning(check, `${missing} is not set: no e-mail is sent`, 'set both variables, or neither')

function adviceOf(found: string): string {
  if (found.includes('sign-in')) return 'correct user and password in GATEWAY_SMTP_URL'
  if (found.includes('TLS')) {
    return 'use smtps:// if the server has TLS from the start, else a server with STARTTLS and a valid certificate'
  }
  return 'correct host and port in GATEWAY_SMTP_URL, and let this machine reach them'
}

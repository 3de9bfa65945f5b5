// Settings of the mail server that notices are sent by. Does not ask the server. No message has the
// address of the server, which may hold a password.
import { emailPattern, type MailVariable } from '../contract/notices/mail.ts'
import type { MailServer } from '../lib/net/mailer.ts'
import { mayLackTls } from '../lib/net/plain-http.ts'
import { wrong, wrongSecret } from './network.ts'

const smtpPort = 587
const smtpsPort = 465

/** Undefined when one of them is missing: then no mail is sent. */
export function readMail(
  get: (variable: MailVariable) => string | undefined,
  egressAllow: readonly string[],
): MailServer | undefined {
  const [url, from] = [get('GATEWAY_SMTP_URL'), get('GATEWAY_SMTP_FROM')]
  const server = url === undefined ? undefined : readServer(url, egressAllow)
  const sender = from === undefined ? undefined : readSender(from)
  return server && sender && { ...server, from: sender }
}

function readServer(text: string, egressAllow: readonly string[]): Omit<MailServer, 'from'> {
  const accepts = 'smtp://user:password@host:port, or smtps:// for TLS from the start'
  const refuse = (got: string) => wrongSecret('GATEWAY_SMTP_URL', got, accepts)
  if (!/^smtps?:\/\//.test(text)) throw refuse('another scheme than smtp:// and smtps://')
  // As http, so that the host is checked as that of any address.
  const url = URL.parse(text.replace(/^smtps?:/, 'http:'))
  if (url === null || url.hostname === '') throw refuse('a form that is no address')
  if (url.search !== '' || url.hash !== '' || url.pathname !== '/') throw refuse('a path or query')
  if ((url.username === '') !== (url.password === '')) throw refuse('half of a sign-in')
  const [user, password] = [decoded(url.username), decoded(url.password)]
  if (user === undefined || password === undefined) throw refuse('a wrong percent sign')
  const isTls = text.startsWith('smtps:')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(text) ?? (isTls ? smtpsPort : smtpPort),
    isTls,
    isTrusted: mayLackTls(url, egressAllow),
    ...(user !== '' && { auth: { user, password } }),
  }
}

/** A URL forgets the default port of http. */
function portOf(text: string): number | undefined {
  const [, port] = /:(\d{1,5})\/?$/.exec(text) ?? []
  return port === undefined ? undefined : Number(port)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `gateway@mail.example`, or `Model Gateway <gateway@mail.example>`. */
function readSender(text: string): MailServer['from'] {
  const [, name = '', bracketed] = /^([^<>"\\\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? []
  const address = bracketed ?? text.trim()
  if (emailPattern.test(address)) return { name: name.trim(), address }
  const accepts = 'an e-mail address, or a name with the address in angle brackets'
  throw wrong('GATEWAY_SMTP_FROM', text, accepts)
}

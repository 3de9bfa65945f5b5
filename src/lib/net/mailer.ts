// Sends e-mail over SMTP. The library is loaded with the first mail. Each mail has a connection of its
// own, and an attempt is bounded. What a server says about the sign-in is not passed on.
import type { Transporter } from 'nodemailer'

export interface MailServer {
  host: string
  port: number
  /** TLS from the first byte on. */
  isTls: boolean
  /** On this machine and in allowed networks TLS and a valid certificate are not demanded. */
  isTrusted: boolean
  auth?: { user: string; password: string }
  from: { name: string; address: string }
}

interface Mail {
  /** The same for every attempt. */
  id: string
  to: string
  subject: string
  text: string
  attachment?: { name: string; type: string; text: string }
  atMs: number
}

interface Mailed {
  /** Of the server's answer; below 300: it has taken the mail. */
  status?: number
  problem?: string
  /** The server will never take it. */
  isFinal?: boolean
}

export interface Mailer {
  send(mail: Mail, signal?: AbortSignal): Promise<Mailed>
}

/** Below the lease of a delivery. */
const timeoutMs = 15_000
const connectMs = 8_000
const maxSubjectChars = 150
const maxAnswerChars = 200

export function createMailer(server: MailServer): Mailer {
  let transport: Promise<Transporter> | undefined
  const load = () => {
    transport ??= import('nodemailer').then(({ createTransport }) =>
      createTransport(optionsOf(server)),
    )
    return transport
  }
  return {
    async send(mail, signal) {
      if (signal?.aborted === true) return stopped
      const sending = (await load()).sendMail(messageOf(server, mail))
      const sent = sending.then(
        ({ response }) => ({ status: statusIn(response) ?? 250 }),
        (error: SmtpError) => failureOf(error, server),
      )
      return within(sent, signal)
    },
  }
}

/** Connects and signs in as for a mail, and sends none. Undefined when that works. */
export async function verifyMailServer(server: MailServer): Promise<string | undefined> {
  const { createTransport } = await import('nodemailer')
  const verified = createTransport(optionsOf(server))
    .verify()
    .then(
      (): Mailed => ({}),
      (error: SmtpError) => failureOf(error, server),
    )
  return (await within(verified)).problem
}

const stopped: Mailed = { problem: 'it was stopped' }

const optionsOf = ({ host, port, isTls, isTrusted, auth }: MailServer) => ({
  host,
  port,
  secure: isTls,
  // A password goes nowhere in the clear.
  requireTLS: auth !== undefined && !isTrusted,
  tls: { rejectUnauthorized: !isTrusted },
  ...(auth !== undefined && { auth: { user: auth.user, pass: auth.password } }),
  connectionTimeout: connectMs,
  greetingTimeout: connectMs,
  dnsTimeout: connectMs,
  socketTimeout: timeoutMs,
  disableFileAccess: true,
  disableUrlAccess: true,
})

function messageOf({ from }: MailServer, mail: Mail) {
  const { id, to, subject, text, attachment, atMs } = mail
  return {
    // The library writes into what it is given, and settings are frozen.
    from: { ...from },
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject: oneLine(subject, maxSubjectChars),
    text,
    ...(attachment !== undefined && { attachments: [attachmentOf(attachment)] }),
    messageId: `<${id}@${from.address.split('@')[1]}>`,
    date: new Date(atMs),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  }
}

const attachmentOf = ({ name, type, text }: NonNullable<Mail['attachment']>) => ({
  filename: name,
  contentType: type,
  content: text,
})

/** No control character, so that a name cannot begin another header. */
const oneLine = (text: string, maxChars: number): string =>
  [...text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, maxChars).join('')

async function within(sent: Promise<Mailed>, signal?: AbortSignal): Promise<Mailed> {
  let timer: Timer | undefined
  const ended = new Promise<Mailed>((resolve) => {
    timer = setTimeout(() => resolve({ problem: 'no answer came in time' }), timeoutMs)
    signal?.addEventListener('abort', () => resolve(stopped), { once: true })
  })
  try {
    return await Promise.race([sent, ended])
  } finally {
    clearTimeout(timer)
  }
}

interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
  response?: string
}

/** What the server answers to these concerns this mail; everything else concerns the way to it. */
const mailCommands = ['MAIL FROM', 'RCPT TO', 'DATA']

const problems: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refused the sign-in',
  ETLS: 'TLS could not be agreed on with the mail server',
  ETIMEDOUT: 'the mail server did not answer in time',
  EDNS: 'the name of the mail server could not be resolved',
  ECONNECTION: 'no connection to the mail server could be made',
  ESOCKET: 'no connection to the mail server could be made',
  ECONNREFUSED: 'no connection to the mail server could be made',
}

function failureOf(
  { code = '', command = '', responseCode, response = '', message }: SmtpError,
  { auth }: MailServer,
): Mailed {
  // The last answer may be one that was good, such as a greeting.
  const last = responseCode ?? statusIn(response)
  const status = last !== undefined && last >= 400 ? last : undefined
  const said = status === undefined ? {} : { status }
  const isTls = code === 'ETLS' || (status === undefined && isTlsText(message))
  if (isTls) return { problem: problems['ETLS']! }
  if (command.startsWith('AUTH')) return { ...said, problem: problems['EAUTH']! }
  const isOfMail = mailCommands.includes(command)
  if (status === undefined) {
    const problem = problems[code] ?? 'the mail could not be sent'
    return { problem, ...(code === 'EENVELOPE' && { isFinal: true }) }
  }
  const answer = oneLine(withoutSignIn(response, auth), maxAnswerChars)
  return {
    ...said,
    problem: `the mail server answered: ${answer}`,
    ...(isOfMail && status >= 500 && { isFinal: true }),
  }
}

const isTlsText = (message: string): boolean => /certificate|\bTLS\b|\bSSL\b/i.test(message)

function withoutSignIn(text: string, auth: MailServer['auth']): string {
  if (auth === undefined) return text
  const { user, password } = auth
  const base64 = (plain: string) => Buffer.from(plain).toString('base64')
  const forms = [password, base64(password), base64(`\0${user}\0${password}`)]
  return forms.reduce((left, form) => left.replaceAll(form, '[secret]'), text)
}

function statusIn(response = ''): number | undefined {
  const [, digits] = /^(\d{3})/.exec(response) ?? []
  return digits === undefined ? undefined : Number(digits)
}

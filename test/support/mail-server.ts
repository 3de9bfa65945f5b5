// A mail server for tests: keeps what it is sent, and refuses what a test tells it to.
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { untilTrue } from './read.ts'

interface ReceivedMail {
  to: readonly string[]
  from: string
  user: string | undefined
  isSecure: boolean
  /** Headers by their names in small letters, with folded lines joined. */
  headers: ReadonlyMap<string, string>
  /** Decoded. */
  text: string
  raw: string
}

export interface MailServerForTests {
  readonly port: number
  /** In the order of arrival, those that were taken and those that were refused at their end. */
  readonly mails: ReceivedMail[]
  /** The refusal for a recipient, or at the end of a mail; undefined: it is taken. */
  refuse: (at: 'recipient' | 'end', to: string) => { status: number; text: string } | undefined
  first(fits: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>
  stop(): Promise<void>
}

export async function startMailServer(
  options: SMTPServerOptions & { password?: string } = {},
): Promise<MailServerForTests> {
  const mails: ReceivedMail[] = []
  const refusal = (at: 'recipient' | 'end', to: string) => {
    const refused = running.refuse(at, to)
    if (refused === undefined) return null
    return Object.assign(new Error(refused.text), { responseCode: refused.status })
  }
  const { password, ...rest } = options
  const server = new SMTPServer({
    authOptional: password === undefined,
    logger: false,
    onAuth(auth, _, done) {
      if (auth.password === password) return done(null, { user: auth.username })
      // As a careless server would: it repeats what it was given.
      done(new Error(`wrong password ${auth.password}`))
    },
    onRcptTo: ({ address }, _, done) => done(refusal('recipient', address)),
    async onData(stream, session, done) {
      let raw = ''
      for await (const chunk of stream) raw += chunk
      const { mailFrom, rcptTo } = session.envelope
      const to = rcptTo.map(({ address }) => address)
      const from = mailFrom === false ? '' : mailFrom.address
      const about = { to, from, user: session.user as string | undefined, raw }
      mails.push({ ...about, isSecure: session.secure, ...parsed(raw) })
      done(refusal('end', to[0] ?? ''))
    },
    ...rest,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const running: MailServerForTests = {
    port: (server.server.address() as { port: number }).port,
    mails,
    refuse: () => undefined,
    first: async (fits) =>
      (await untilTrue(
        async () => mails.find(fits),
        (mail) => mail !== undefined,
      ))!,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return running
}

function parsed(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = rest.join('\r\n\r\n')
  return { headers, text: decoded(body, headers.get('content-transfer-encoding')) }
}

/** A part of a mail as it was written. */
export const partText = (part: string): string => parsed(part).text

function decoded(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n')
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n')
}

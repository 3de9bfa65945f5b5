import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type MailServerForTests, startMailServer } from '../../../test/support/mail-server.ts'
import { createMailer, type MailServer } from './mailer.ts'

const password = 'open sesame/=+'
const mail = { id: 'evt_1', to: 'ops@mail.example', subject: 'hello', text: 'hi\n', atMs: 0 }

let server: MailServerForTests
beforeAll(async () => {
  server = await startMailServer({ password })
})
afterAll(() => server.stop())

const at = (port: number, more: Partial<MailServer> = {}): MailServer => ({
  ...{ host: '127.0.0.1', port, isTls: false, isTrusted: true },
  auth: { user: 'gateway', password },
  // As settings are.
  from: Object.freeze({ name: 'Gateway', address: 'gateway@mail.example' }),
  ...more,
})

test('a mail goes over STARTTLS where the server has it', async () => {
  expect(await createMailer(at(server.port)).send(mail)).toEqual({ status: 250 })
  expect(server.mails.at(-1)).toMatchObject({ isSecure: true, user: 'gateway' })
})

test('TLS from the first byte on works, too', async () => {
  const secure = await startMailServer({ secure: true, password })
  const sent = await createMailer(at(secure.port, { isTls: true })).send(mail)
  expect(sent).toEqual({ status: 250 })
  await secure.stop()
})

test('a password is not sent to a foreign server whose certificate is wrong, or without TLS', async () => {
  const plain = await startMailServer({ password, disabledCommands: ['STARTTLS'] })
  for (const { port } of [server, plain]) {
    const before = server.mails.length
    const sent = await createMailer(at(port, { isTrusted: false })).send(mail)
    expect(sent.problem).toBe('TLS could not be agreed on with the mail server')
    expect(server.mails.length).toBe(before)
  }
  await plain.stop()
})

test('a refused sign-in says so, without what the server repeats of it', async () => {
  const auth = { user: 'gateway', password: 'a wrong password' }
  const sent = await createMailer(at(server.port, { auth })).send(mail)
  expect(sent).toEqual({ status: 535, problem: 'the mail server refused the sign-in' })
})

test('a server that is down is told', async () => {
  const down = await startMailServer()
  await down.stop()
  const sent = await createMailer(at(down.port)).send(mail)
  expect(sent).toEqual({ problem: 'no connection to the mail server could be made' })
})

test('a refusal has the text of the server in one line, without the password', async () => {
  server.refuse = () => ({ status: 554, text: `${password}\r\n\u0007not here` })
  const sent = await createMailer(at(server.port)).send(mail)
  server.refuse = () => undefined
  expect(sent).toMatchObject({ status: 554, isFinal: true })
  expect(sent.problem).not.toContain(password)
  expect(sent.problem).not.toMatch(/\p{Cc}/u)
})

test('no text can add a header or a recipient', async () => {
  const subject = 'hello\r\nBcc: other@mail.example\r\n\r\nbody\u2028x\u0000'
  const text = '.\r\nMAIL FROM:<x@mail.example>\r\n.\r\nname: 名字\n'
  await createMailer(at(server.port)).send({ ...mail, subject, text })
  const got = server.mails.at(-1)!
  expect(got.to).toEqual(['ops@mail.example'])
  expect([...got.headers.keys()]).not.toContain('bcc')
  expect(got.headers.get('subject')).toBe('hello Bcc: other@mail.example body x')
  expect(got.text.trimEnd()).toBe(text.replaceAll('\r\n', '\n').trimEnd())
})

test('an aborted attempt ends at once', async () => {
  const before = server.mails.length
  const stopped = await createMailer(at(server.port)).send(mail, AbortSignal.abort())
  expect(stopped).toEqual({ problem: 'it was stopped' })
  expect(server.mails.length).toBe(before)
})

import { expect, test } from 'bun:test'
import { ConfigError } from './file.ts'
import { readMail } from './mail.ts'

const from = 'gateway@mail.example'
const read = (url: string, sender = from, allow: readonly string[] = []) =>
  readMail((variable) => (variable === 'GATEWAY_SMTP_URL' ? url : sender), allow)

test('a server, its sign-in and the sender are read', () => {
  expect(read('smtp://us%40er:p%2Fa%20ss@mail.example', 'Model Gateway <g@mail.example>')).toEqual({
    ...{ host: 'mail.example', port: 587, isTls: false, isTrusted: false },
    auth: { user: 'us@er', password: 'p/a ss' },
    from: { name: 'Model Gateway', address: 'g@mail.example' },
  })
  const plain = { isTls: false, from: { name: '', address: from } }
  expect(read('smtp://127.0.0.1:80')).toEqual({
    ...{ ...plain, host: '127.0.0.1', port: 80, isTrusted: true },
  })
  expect(read('smtps://[::1]/')).toMatchObject({ host: '::1', port: 465, isTls: true })
  expect(read('smtp://10.1.2.3', from, ['10.0.0.0/8'])?.isTrusted).toBe(true)
  expect(read('smtp://localhost:2525')?.port).toBe(2525)
})

test('both settings are needed', () => {
  expect(readMail(() => undefined, [])).toBeUndefined()
  const url = 'smtp://mail.example'
  expect(readMail((each) => (each === 'GATEWAY_SMTP_URL' ? url : undefined), [])).toBeUndefined()
  expect(readMail((each) => (each === 'GATEWAY_SMTP_FROM' ? from : undefined), [])).toBeUndefined()
})

test.each([
  'http://mail.example',
  'mail.example:25',
  'smtp://',
  'smtp://mail.example/path',
  'smtp://mail.example?pool=true',
  'smtp://mail.example:99999',
  'smtp://user@mail.example',
  'smtp://user:p%zz@mail.example',
  'smtp://user:hun#ter2@mail.example',
])('the address %s is refused, without what may be a password', (url) => {
  try {
    read(url)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    const { message } = error as ConfigError
    expect(message).toStartWith('GATEWAY_SMTP_URL')
    expect(message).not.toContain('mail.example')
    return
  }
  throw new Error('it was accepted')
})

test.each(['', 'gateway', 'a@b\r\nBcc: c@d', 'A <a@b', 'A <a@b> <c@d>', 'A\n<a@b.example>'])(
  'the sender %j is refused',
  (sender) => {
    expect(() => read('smtp://mail.example', sender)).toThrow('GATEWAY_SMTP_FROM')
  },
)

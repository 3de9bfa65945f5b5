// Cases for the settings of sign-in through an identity provider.
import { describe, expect, test } from 'bun:test'
import { readOidc } from './oidc.ts'

const whole = {
  GATEWAY_OIDC_ISSUER: 'https://sso.example/realms/house',
  GATEWAY_OIDC_CLIENT_ID: 'gateway',
  GATEWAY_OIDC_CLIENT_SECRET: 'hunter2hunter2',
  GATEWAY_OIDC_GROUPS: 'admins=administrator, books=finance,acme-dev=member:acme,a=b=operator',
}
const read = (env: Readonly<Record<string, string | undefined>>, allow: string[] = []) =>
  readOidc((variable) => env[variable], allow)

describe('sign-in through a provider', () => {
  test('is off unless it is set', () => {
    expect(read({})).toBeUndefined()
    expect(read({ GATEWAY_OIDC_ONLY: 'off' })).toBeUndefined()
  })

  test('has an issuer, a client and groups', () => {
    expect(read({ ...whole, GATEWAY_OIDC_ONLY: 'on' })).toEqual({
      issuer: 'https://sso.example/realms/house',
      clientId: 'gateway',
      clientSecret: 'hunter2hunter2',
      groups: [
        { group: 'admins', role: 'administrator' },
        { group: 'books', role: 'finance' },
        { group: 'acme-dev', role: 'member', account: 'acme' },
        { group: 'a=b', role: 'operator' },
      ],
      only: true,
      egressAllow: [],
    })
    const { GATEWAY_OIDC_CLIENT_SECRET: _, ...open } = whole
    expect(read(open)?.clientSecret).toBeUndefined()
  })

  test.each([
    'http://127.0.0.1:9000',
    'http://localhost:9000/',
    'http://[::1]:9000',
    'http://10.1.2.3',
  ])('takes %s without TLS', (issuer) => {
    expect(read({ ...whole, GATEWAY_OIDC_ISSUER: issuer }, ['10.0.0.0/8'])?.issuer).toBe(issuer)
  })

  test.each([
    [{ GATEWAY_OIDC_ISSUER: undefined }, 'GATEWAY_OIDC_ISSUER is missing'],
    [{ GATEWAY_OIDC_CLIENT_ID: undefined }, 'GATEWAY_OIDC_CLIENT_ID is missing'],
    [{ GATEWAY_OIDC_GROUPS: undefined }, 'GATEWAY_OIDC_GROUPS is missing'],
    [{ GATEWAY_OIDC_ISSUER: 'http://10.0.0.1' }, 'GATEWAY_EGRESS_ALLOW'],
    [{ GATEWAY_OIDC_ISSUER: 'http://127.0.0.1.example' }, 'GATEWAY_EGRESS_ALLOW'],
    [{ GATEWAY_OIDC_ISSUER: 'https://sso.example?a=b' }, 'without credentials, query'],
    [{ GATEWAY_OIDC_ISSUER: 'https://me:hunter2hunter2@sso.example' }, 'credentials in it'],
    [{ GATEWAY_OIDC_ISSUER: 'sso.example' }, 'an https address'],
    [{ GATEWAY_OIDC_ONLY: 'yes' }, 'on or off'],
    [{ GATEWAY_OIDC_GROUPS: 'admins' }, 'GROUP=ROLE'],
    [{ GATEWAY_OIDC_GROUPS: 'admins=emperor' }, 'GROUP=ROLE'],
    [{ GATEWAY_OIDC_GROUPS: 'dev=member' }, 'member:ACCOUNT'],
    [{ GATEWAY_OIDC_GROUPS: 'dev=member:' }, 'member:ACCOUNT'],
    [{ GATEWAY_OIDC_GROUPS: 'ops=operator:acme' }, 'member:ACCOUNT'],
    [{ GATEWAY_OIDC_GROUPS: '=operator' }, 'GROUP=ROLE'],
    [{ GATEWAY_OIDC_GROUPS: ' , ' }, 'GROUP=ROLE'],
  ])('%j is refused', (change, says) => {
    let message = ''
    try {
      read({ ...whole, ...change })
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain(says)
    expect(message).not.toContain('hunter2')
  })

  test('passwords are not switched off without a provider', () => {
    expect(() => read({ GATEWAY_OIDC_ONLY: 'on' })).toThrow('GATEWAY_OIDC_ISSUER is missing')
  })
})

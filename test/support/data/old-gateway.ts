// What a gateway of an older version is set up with to make a database for the tests of upgrades, and
// what a newer one must be set up with to go on with it.
import type { OldUpstream } from './old-upstream.ts'

export const oldMasterKey = Buffer.alloc(32, 5).toString('base64')
export const oldToken = 'sk-old-0123456789abcdefghijklmnop'
export const oldAdminToken = 'admin-of-an-old-gateway-0123456789'
export const oldCreateKey = 'asked-by-an-old-caller'

/** The same names in every version: the channel of a task is found by its name. */
export const oldConfig = ({ url }: OldUpstream, speaks: 'chat' | 'both'): string => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${oldToken} }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${url}/v1"${speaks === 'both' ? `, vf: "${url}"` : ''} }
    models: { "txta-*": "*"${speaks === 'both' ? ', "vfa-*": "*"' : ''} }
`

// The banner printed at start. Knows only the values it gets.
import type { MadeToken } from '../engine/catalog/apply-declarations.ts'

export interface Banner {
  url: string
  /** Set where administration has a port of its own. */
  adminUrl?: string
  data: string
  sandbox?: string
  adminToken?: string
  /** For creating the first administrator. */
  setupCode?: string
  tokens: readonly MadeToken[]
}

/** Secrets appear once, when they are generated; the last line is for programs. */
export function bannerText(banner: Banner): string {
  const { url, adminUrl = url, data, sandbox, adminToken, setupCode, tokens } = banner
  const lines = [
    '',
    '  Model Gateway',
    '',
    `  API          ${url}/v1`,
    `  Console      ${adminUrl}/console/`,
    `  Admin API    ${adminUrl}/admin/v1`,
    `  Data         ${data}`,
  ]
  if (sandbox !== undefined)
    lines.push(`  Sandbox      on, at ${sandbox}; no provider key is needed`)
  if (setupCode !== undefined) {
    lines.push(
      '',
      '  Set up the console, once:',
      `               ${adminUrl}/console/set-up#${setupCode}`,
    )
  }
  if (adminToken !== undefined) lines.push('', `  Admin token  ${adminToken}`)
  for (const made of tokens) lines.push(`  ${madeLine(made)}`)
  const ready = tokens.find(({ address }) => address === undefined)
  if (ready !== undefined) lines.push('', '  Try it:', '', curlLine(url, ready.secret))
  return `${lines.join('\n')}\n\n`
}

const curlLine = (url: string, secret: string): string =>
  `curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${secret}' ` +
  `-H 'Content-Type: application/json' ` +
  `-d '{"model":"txta-plus","messages":[{"role":"user","content":"Hello!"}]}'`

const madeLine = ({ account, name, secret, address }: MadeToken): string =>
  address === undefined
    ? `API token    ${secret}   (account ${account}, token ${name}; shown only now)`
    : `Webhook      ${secret}   (signs notices to ${address}; shown only now)`

/** For a token that was created while the gateway ran. */
export const tokenLine = ({ secret, account, name, address }: MadeToken): string =>
  address === undefined
    ? `API token ${secret} (account ${account}, ${name})\n`
    : `Webhook ${secret} (signs notices to ${address})\n`

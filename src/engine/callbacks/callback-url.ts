// Checks a callback URL when the task is created, without I/O. The final check happens when the
// gateway connects.
import { type Refusal, refuse } from '../../contract/errors.ts'
import { type EgressRules, previewAddress } from '../../lib/net/address-guard.ts'

const maxChars = 2_048

/** Without TLS only to networks the operator has named. */
export const callbackRules = ({ egressAllow }: EgressRules) => ({
  allow: egressAllow,
  httpsOnly: true,
})

/** To be spread into options: nothing when no callback is wanted. An empty URL is none. */
export function callbackIn(rules: EgressRules, value: unknown): { callbackUrl?: string } | Refusal {
  if (value === undefined || value === null || value === '') return {}
  if (typeof value !== 'string') return wrong('must be a string')
  if (value.length > maxChars) return wrong(`must have at most ${maxChars} characters`)
  const url = previewAddress(value, callbackRules(rules))
  if ('problem' in url) return wrong(`cannot be used: ${url.problem}`)
  // A fragment stays in the browser; it is never sent.
  url.hash = ''
  return { callbackUrl: url.href }
}

const wrong = (says: string): Refusal =>
  refuse('invalid_request', `'callback_url' ${says}`, { param: 'callback_url' })

/** The common prefix of all URLs at the same host; all e-mail goes to one. */
export const originOf = (url: string): string =>
  url.startsWith(mailto) ? mailto : `${URL.parse(url)?.origin ?? url}/`

const mailto = 'mailto:'

// Who sends the bills, and how customers add money.
import { z } from 'zod'
import { strict } from './fields.ts'
import { profileFields } from './profile.ts'

const { legal_name, address, tax_id, email } = profileFields

export const issuerDeclaration = strict({
  name: legal_name.unwrap().meta({ description: 'Name on bills.' }),
  address,
  tax_id,
  email: email.meta({ description: 'Where customers ask about bills.' }),
}).meta({ description: 'Who sends the bills. Left out, the admin API may say it.' })

export type Issuer = z.infer<typeof issuerDeclaration>

const maxText = 1_000

export const topUpDeclaration = strict({
  text: z.string().min(1).max(maxText).meta({ description: 'What members are told.' }).optional(),
  url: z
    .string()
    .max(2_000)
    .refine(isWebAddress, 'must be an http or https address')
    .meta({ description: 'Where they go; {account} in it is replaced by the name of the account.' })
    .optional(),
})
  .refine(({ text, url }) => (text ?? url) !== undefined, 'must have a text or a url')
  .meta({ description: 'How members add money.' })

function isWebAddress(text: string): boolean {
  const url = URL.parse(text.replaceAll('{account}', 'x'))
  return url !== null && /^https?:$/.test(url.protocol)
}

/** For one account. */
export const topUpOf = (
  { text, url }: z.infer<typeof topUpDeclaration>,
  account: string,
): { text: string | null; url: string | null } => ({
  text: text ?? null,
  url: url?.replaceAll('{account}', encodeURIComponent(account)) ?? null,
})

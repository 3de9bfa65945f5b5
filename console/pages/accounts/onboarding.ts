// What a new account is made of, and the calls that make it, one after the other. What was made stays made: a second
// run goes on with what is left.
import { useState } from 'react'
import type { InvitationLink } from '../../../src/admin/invitations/invitation-schema.ts'
import { type ProfileField, profileOf } from '../../../src/contract/config-schema/profile-fields.ts'
import { type BudgetDraft, budgetFrom, draftOf } from '../../components/billing/budget.tsx'
import { ApiError, api } from '../../lib/api.ts'

export interface Draft {
  name: string
  profile: Readonly<Record<ProfileField, string>>
  balance: string
  threshold: string
  budget: BudgetDraft
  /** Of people who are invited. */
  emails: string[]
  /** Of the first token; empty: none. */
  token: string
  models: string[]
}

export const newDraft = (): Draft => ({
  name: '',
  profile: profileOf(() => ''),
  ...{ balance: '', threshold: '', budget: draftOf(null) },
  ...{ emails: [], token: '', models: ['*'] },
})

/** Those of the invited that no mail could reach. */
export const wrongEmails = ({ emails }: Draft): string[] =>
  emails.filter((email) => !/^[^\s@]+@[^\s@]+$/.test(email))

export interface Made {
  account?: string
  links: readonly InvitationLink[]
  /** The secret of the token. */
  secret?: string
}

const filled = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value.trim() === '' ? [] : [[name, value.trim()]],
    ),
  )

function accountBody({ name, profile, balance, threshold, budget }: Draft) {
  const set = budgetFrom(budget)
  const texts = profileOf((field) => profile[field])
  return {
    ...filled({ name, ...texts, balance, balance_low: threshold }),
    ...(set !== null && { budget: set }),
  }
}

/** `isAgain`: an earlier answer may have been lost, so that an account of this name may be ours. */
async function makeAccount(draft: Draft, isAgain: boolean): Promise<string> {
  try {
    const body = accountBody(draft)
    return (await api<{ name: string }>('POST', '/accounts', { body })).name
  } catch (error) {
    if (isAgain && error instanceof ApiError && error.status === 409) return draft.name.trim()
    throw error
  }
}

export const isWhole = ({ emails, token }: Draft, made: Made): boolean =>
  made.account !== undefined &&
  made.links.length === emails.length &&
  (token.trim() === '' || made.secret !== undefined)

/** Hands on what is made so far after every call. */
export function useOnboarding() {
  const [made, setMade] = useState<Made>({ links: [] })
  const [isUnsure, setUnsure] = useState(false)
  const run = async (draft: Draft): Promise<Made> => {
    let now = made
    const keep = (more: Partial<Made>) => {
      now = { ...now, ...more }
      setMade(now)
    }
    if (now.account === undefined) {
      try {
        keep({ account: await makeAccount(draft, isUnsure) })
      } catch (error) {
        setUnsure(!(error instanceof ApiError))
        throw error
      }
    }
    const { account } = now
    for (const email of draft.emails.slice(now.links.length)) {
      const body = { role: 'member', account, email }
      keep({ links: [...now.links, await api<InvitationLink>('POST', '/invitations', { body })] })
    }
    if (draft.token.trim() !== '' && now.secret === undefined) {
      const body = { account, name: draft.token.trim(), models: draft.models }
      keep({ secret: (await api<{ token: string }>('POST', '/tokens', { body })).token })
    }
    return now
  }
  return { made, run }
}

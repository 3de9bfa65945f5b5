// What is done to the API tokens of the selected accounts, each of the two undone by the other: an account itself cannot
// be switched off, and without a token nothing calls for it.
import type { Account } from '../../../src/admin/money/account-schema.ts'
import type { BulkAction } from '../../components/bulk/bulk-actions.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Token } from '../../lib/resources/token.ts'
import { messages } from './messages.ts'

async function tokensOf(account: string): Promise<Token[]> {
  const all: Token[] = []
  let cursor: string | undefined
  do {
    const query = { account, limit: 500, cursor }
    const page: Page<Token> = await api('GET', '/tokens', { query })
    all.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/** A token of the file is changed there: then all of the account's stay as they are. */
function switching(disabled: boolean, problem: (token: string) => string) {
  const changed = new Map<string, readonly string[]>()
  const set = async (ids: readonly string[], to: boolean) => {
    for (const id of ids) await api('PATCH', `/tokens/${id}`, { body: { disabled: to } })
  }
  return {
    async run({ id, name }: Account) {
      const others = (await tokensOf(name)).filter((token) => token.disabled !== disabled)
      const fixed = others.find(({ source }) => source !== 'api')
      if (fixed !== undefined) throw new Error(problem(fixed.name))
      const ids = others.map((token) => token.id)
      changed.set(id, ids)
      await set(ids, disabled)
    },
    /** Those that it changed, and no others. */
    undo: ({ id }: Account) => set(changed.get(id) ?? [], !disabled),
  }
}

export function useTokenActions(): BulkAction<Account>[] {
  const t = useMessages(messages)
  const problem = (token: string) => t('token_of_file', { token })
  return [
    {
      label: (n) => t('disable_tokens', { n }),
      text: t('disable_tokens_text'),
      appliesTo: () => true,
      done: (n) => t('tokens_disabled', { n }),
      ...switching(true, problem),
    },
    {
      label: (n) => t('enable_tokens', { n }),
      text: t('enable_tokens_text'),
      appliesTo: () => true,
      done: (n) => t('tokens_enabled', { n }),
      ...switching(false, problem),
    },
  ]
}

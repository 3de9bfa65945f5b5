// Verifies the ledger, of all accounts or of one: every check with its result, as `gateway audit` does.
import { Alert, Button, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Audit } from '../../../src/admin/money/audit-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

const maxProblems = 50

/** `account`: of this one alone. */
export function VerifyLedger({ account }: { account?: string }) {
  const t = useMessages(messages)
  const [audit, setAudit] = useState<Audit>()
  const { error, isBusy, run } = useAction()
  const query = account === undefined ? {} : { query: { account } }
  const verify = () => run(async () => setAudit(await api<Audit>('POST', '/audit', query)))
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" loading={isBusy} onClick={() => void verify()}>
        {t('verify')}
      </Button>
      <ErrorAlert error={error} />
      {audit !== undefined && <Verified audit={audit} />}
    </Stack>
  )
}

function Verified({ audit }: { audit: Audit }) {
  const t = useMessages(messages)
  const format = useFormat()
  const server = useServerText()
  const counts = {
    accounts: format.number(audit.accounts),
    entries: format.number(audit.entries),
    receipts: format.number(audit.receipts),
  }
  if (audit.ok) {
    const checks = audit.checks.map(({ check }) => server.text('ledger_check', check))
    return (
      <Alert color="teal" role="status" title={t('verified', counts)}>
        {checks.join(' · ')}
      </Alert>
    )
  }
  return (
    <Alert color="red" role="alert" title={t('not_verified', { n: audit.problems.length })}>
      <List size="sm">
        {audit.problems.slice(0, maxProblems).map(({ check, account, ref, problem }) => (
          <List.Item key={`${check}${account}${ref}${problem}`}>
            <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
              {server.text('ledger_check', check)} · {account ?? ref}: {server.sentence(problem)}
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

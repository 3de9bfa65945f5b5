// The whole database at one moment as a file, while everything goes on. Secrets in it are as the
// database has them: hashed, or sealed by the master key, which is not in it.
import { answerHeaders } from '../../http/request-context.ts'
import { bytes } from '../../http/schema.ts'
import { gzipOf } from '../../lib/text/gzip-lines.ts'
import { backupLines } from '../../store/maintenance/backup.ts'
import { auditChange, time } from '../answers.ts'
import { unreadSeconds } from '../download.ts'
import type { Ask } from '../route.ts'
import { gatewayRoute } from './settings.ts'

async function download({ engine: { store }, x }: Ask) {
  // A copy of everything leaves the gateway, so the audit log has it.
  await store.tx((tx) => auditChange(tx, x, { action: 'backup', subject: 'database' }))
  x.connection.keepOpen(unreadSeconds)
  const headers = answerHeaders(x, 'application/gzip')
  const name = `gateway-${time(x.atMs).slice(0, 19).replaceAll(':', '')}.backup.gz`
  headers['content-disposition'] = `attachment; filename="${name}"`
  headers['cache-control'] = 'no-store'
  return new Response(gzipOf(backupLines(store, x.atMs)), { headers })
}

export const backupRoutes = [
  gatewayRoute('GET /backup', {
    id: 'downloadBackup',
    summary: 'The whole database at one moment, as a file',
    files: { 'application/gzip': bytes() },
    headers: ['content-disposition'],
    returns: 'The backup.',
    handle: download,
  }),
]

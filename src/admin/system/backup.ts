// The whole database at one moment as a file, while everything goes on. Secrets in it are as the
// database has them: hashed, or sealed by the master key, which is not in it.
import { answerHeaders } from '../../http/exchange.ts'
import { gzipOf } from '../../lib/text/gzip-lines.ts'
import { backupLines } from '../../store/maintenance/backup.ts'
import { type Resource, recordChange, route, time } from '../legacy-route.ts'

export const backup: Resource = (app, { engine }) => {
  const { store } = engine

  app.get(
    '/backup',
    route(async (_, x) => {
      // Who has taken a copy of everything is worth knowing.
      await store.tx((tx) => recordChange(tx, x, { action: 'backup', subject: 'database' }))
      x.connection.keepOpen()
      const headers = answerHeaders(x, 'application/gzip')
      const name = `gateway-${time(x.atMs).slice(0, 19).replaceAll(':', '')}.backup.gz`
      headers['content-disposition'] = `attachment; filename="${name}"`
      headers['cache-control'] = 'no-store'
      return new Response(gzipOf(backupLines(store, x.atMs)), { headers })
    }),
  )
}

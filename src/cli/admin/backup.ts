// gateway backup: everything the gateway knows, into a file. Putting it back needs the database
// itself, which this program never opens: see src/ops/db.ts.
import type { Command } from '../terminal/command.ts'
import { saveFile } from '../terminal/save-file.ts'

export const backupCommands: readonly Command[] = [
  {
    path: ['backup'],
    args: ['FILE'],
    summary: 'everything in the database as it is now, into a file; restore puts it back',
    flags: {},
    async run({ line, admin }) {
      const file = line.arg(0)
      const response = await admin.open('GET', '/backup')
      const { answer } = await saveFile(response, file, 'the backup')
      const text = `${file}: ${(answer.bytes / 1e6).toFixed(1)} MB`
      return { answer, text, note: 'the master key is not in it: keep it elsewhere, and safe' }
    },
  },
]

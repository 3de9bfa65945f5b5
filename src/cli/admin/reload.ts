// gateway reload: has the gateway read its configuration file again. Asked over the admin API: under npm
// and in a container the process that takes signals is not the one that was started.
import { askCommand } from '../terminal/ask.ts'
import { cell, rowOf, rowsOf } from '../terminal/show.ts'

export const reloadCommand = askCommand({
  path: ['reload'],
  args: [],
  summary: 'have it read gateway.yaml again; a file that is wrong changes nothing',
  call: 'POST /reload',
  text: (answer) => {
    const { file, changes } = rowOf(answer)
    const rows = rowsOf({ items: changes })
    const lines = rows.map(
      ({ section, name, change }) => `${cell(change)} ${cell(section)} ${cell(name)}`,
    )
    const read = file === null ? 'there is no configuration file' : `reloaded ${cell(file)}`
    return [rows.length === 0 ? `${read}: nothing has changed in it` : read, ...lines].join('\n')
  },
})

// gateway completion: prints the script by which a shell completes the commands.
import type { Command } from '../terminal/command.ts'
import type { Elsewhere } from '../terminal/parse-line.ts'
import { misuse } from '../terminal/stop.ts'
import { bashScript, fishScript, zshScript } from './shells.ts'
import { type Node, treeOf } from './tree.ts'

const shells: Readonly<Record<string, (nodes: readonly Node[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The table is asked for when it is whole: this command is in it too. */
export const completionCommand = (
  table: () => readonly Command[],
  elsewhere: readonly Elsewhere[],
): Command => ({
  path: ['completion'],
  args: ['bash|zsh|fish'],
  summary: 'prints the script by which a shell completes these commands',
  flags: {},
  async run({ line }) {
    const shell = line.arg(0)
    const make = shells[shell]
    if (make === undefined) throw misuse(`completion takes bash, zsh or fish, not '${shell}'`)
    const script = make(treeOf(table(), elsewhere))
    return { answer: { shell, script }, text: script.trimEnd() }
  },
})

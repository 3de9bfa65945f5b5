// Completion, asked of the shells themselves where they are installed.
import { describe, expect, test } from 'bun:test'
import { commands, elsewhere } from '../commands.ts'
import { bashScript, fishScript, zshScript } from './shells.ts'
import { treeOf } from './tree.ts'

const nodes = treeOf(commands, elsewhere)

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  return stdout.toString()
}

test('every command and every flag can be completed', () => {
  for (const { path, flags } of commands) {
    const node = nodes.find((each) => each.path.join(' ') === path.join(' '))
    const named = node?.flags.map(({ name }) => name) ?? []
    expect(Object.keys(flags).filter((flag) => !named.includes(flag))).toEqual([])
    const above = nodes.find((each) => each.path.join(' ') === path.slice(0, -1).join(' '))
    expect(above?.words.map(({ word }) => word)).toContain(path.at(-1)!)
  }
})

interface Case {
  line: string
  some: readonly string[]
  none?: readonly string[]
}

const cases: readonly Case[] = [
  { line: 'acc', some: ['account'], none: ['token'] },
  { line: 'st', some: ['start'] },
  { line: 'account ', some: ['create', 'list', 'credit'], none: ['start'] },
  { line: 'account create --b', some: ['--balance'], none: ['--json'] },
  { line: 'account create acme --', some: ['--balance', '--json'] },
  { line: 'doctor --', some: ['--offline'], none: ['--url'] },
  { line: 'price export x --format ', some: ['yaml', 'csv'], none: ['account'] },
  { line: 'completion z', some: [] },
]

describe('bash', () => {
  const complete = (line: string): string[] => {
    const words = ['gateway', ...line.split(' ')]
    const list = words.map((word) => `'${word}'`).join(' ')
    const script = `${bashScript(nodes)}
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`
    return run('bash', '-uc', script).split('\n')
  }

  test.each(cases)('completes "$line"', ({ line, some, none = [] }) => {
    const found = complete(line)
    expect(some.filter((word) => !found.includes(word))).toEqual([])
    expect(none.filter((word) => found.includes(word))).toEqual([])
  })
})

/** A shell that is not on this machine is left out: its script is still read, as a text. */
const shells = [
  ['zsh', zshScript(nodes), ['zsh', '-n']],
  ['fish', fishScript(nodes), ['fish', '--no-execute']],
] as const

test.each(shells)(
  'the script for %s names every command, and the shell can read it',
  (shell, script, check) => {
    for (const { path } of commands) expect(script).toContain(path.at(-1)!)
    if (Bun.which(shell) === null) {
      console.error(`left out: reading the completion script (install ${shell})`)
      return
    }
    const { exitCode, stderr } = Bun.spawnSync([...check], { stdin: Buffer.from(script) })
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
  },
)

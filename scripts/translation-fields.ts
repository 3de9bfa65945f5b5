// Writes docs/use/translation-fields.md: what becomes of every field of a request in another style. Run
// it after a change of a reader or a writer of requests; a test compares the result.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type StyleName, styleNames } from '../src/styles/common/conversation.ts'
import { type Outcome, othersOf, outcomeOf, probes } from './translation-fields/outcomes.ts'

const path = join(resolve(import.meta.dir, '..'), 'docs/use/translation-fields.md')

const words = [
  ['carried', 'The upstream gets it.'],
  ['changed', 'The upstream gets something close to it. `x-gateway-translation-loss` names it.'],
  ['left out', 'The upstream does not get it. `x-gateway-translation-loss` names it.'],
  [
    'no effect',
    'There is nothing to tell the upstream: the gateway uses the field itself, or it is a hint or the default.',
  ],
  [
    'refused',
    'The call is refused, and the error names the field: 400, or 404 for what is stored upstream.',
  ],
]

const heading = () => `# Fields in other styles

For callers whose calls are [translated](translation.md): what becomes of every field, by the style of your call and the style of the
upstream. The tables are generated from the translation itself, and hold for a channel with the usual settings of its style; a channel's
\`capabilities\` can change them ([channels](../run/channels.md)).

${table(['Word', 'Meaning'], words)}
A name in parentheses is the one that the header or the error has, where it is not the field's own.
`

export function translationFieldsText(): string {
  return `${[heading(), ...styleNames.map(section)].join('\n')}`
}

function section(from: StyleName): string {
  const others = othersOf(from)
  const rows = Object.keys(probes[from].probes).map((field) => [
    shown(field),
    ...others.map((to) => cell(field, outcomeOf(from, to, field))),
  ])
  return `## ${from}\n\n${table([`Field of ${from}`, ...others.map((to) => `to ${to}`)], rows)}`
}

/** `thinking (budget)`: the name is code, what it is about is not. */
function shown(field: string): string {
  const [, name = field, about = ''] = /^([\w.]+)( \(.*\))?$/.exec(field) ?? []
  return /^\w[\w.]*$/.test(name) ? `\`${name}\`${about}` : field
}

function cell(field: string, { kind, names }: Outcome): string {
  const plain = names.map((name) => name.replaceAll(/\[\d+\]/g, ''))
  const other = plain.filter((name) => name !== field.replace(/ \(.*$/, ''))
  const shownNames = other.map((name) => `\`${name}\``).join(', ')
  return other.length === 0 ? kind : `${kind} (${shownNames})`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    `| ${row.map((each, column) => each.padEnd(widths[column]!)).join(' | ')} |\n`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`
  return line(head) + rule + rows.map(line).join('')
}

if (import.meta.main) writeFileSync(path, translationFieldsText())

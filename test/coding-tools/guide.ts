// What the guide says about a coding tool: its package, the version that is tested, and the lines to
// paste. Tests run these lines as they are written, with another address, model and question.
import { type Fence, fencesIn, kindOf } from '../support/docs/fences.ts'
import { textOf } from '../support/docs/pages.ts'

export const page = 'docs/use/coding-tools.md'

/** As the lines have it. */
export const written = {
  address: 'http://localhost:8080',
  model: 'txta-plus',
  question: '"Correct notes.txt and check it"',
}

interface Row {
  package: string
  isPython: boolean
  version: string
  speaks: string
}

export interface Section extends Row {
  name: string
  fences: Fence[]
}

/** | Claude Code | `@anthropic-ai/claude-code` | 2.1.325 | messages | */
const rowShape = /^\| ([^|]+?) +\| `([^`]+)`( \(PyPI\))? +\| ([\d.]+) +\| (\w+) +\|$/gm

export function sections(): Section[] {
  const text = textOf(page)
  const rows = new Map(
    [...text.matchAll(rowShape)].map(([, name, pack, isPython, version, speaks]) => [
      name!,
      { package: pack!, isPython: isPython !== undefined, version: version!, speaks: speaks! },
    ]),
  )
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [name = ''] = section.split('\n', 1)
      const row = rows.get(name)
      const fences = fencesIn(section).filter((fence) => kindOf(fence) === 'sh tool')
      return row === undefined ? [] : [{ ...row, name, fences }]
    })
}

/** In single quotes, for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export interface Here {
  url: string
  model: string
  prompt: string
}

/** The lines of a section as they must be here. */
export const linesOf = ({ fences }: Section, { url, model, prompt }: Here): string =>
  fences
    .map(({ text }) => text)
    .join('\n')
    .replaceAll(written.address, url)
    .replaceAll(written.question, quoted(prompt))
    .replaceAll(written.model, model)

// A list from a YAML text in the words of gateway.yaml: under its name, or alone. Knows nothing of what is listed.
import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { checkDeclaration, settingName } from '../../contract/config-schema/index.ts'

const maxAliases = 100

/** `name`: the field of the file that the list is in. */
export function readListed<T>(
  text: string,
  name: string,
  file: z.ZodType<T>,
): { value: T } | { problem: string } {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const broken = doc.errors[0] ?? doc.warnings[0]
  if (broken !== undefined) {
    return { problem: `line ${lines.linePos(broken.pos[0]).line} is not YAML` }
  }
  let value: unknown
  try {
    value = doc.toJS({ maxAliasCount: maxAliases })
  } catch {
    return { problem: 'the text has too many aliases' }
  }
  const checked = checkDeclaration(file, Array.isArray(value) ? { [name]: value } : (value ?? {}))
  if (!('problems' in checked)) return { value: checked.value }
  const { path, message } = checked.problems.toSorted((a, b) => +b.unknownKey - +a.unknownKey)[0]!
  return { problem: `${settingName(path) || 'the text'} ${message}` }
}

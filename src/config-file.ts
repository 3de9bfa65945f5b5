// Reads the text of gateway.yaml into a checked declaration, and says where it is wrong.
// Knows no disk and no default path; the environment arrives as an argument.
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import {
  checkDeclaration,
  type FileDeclaration,
  fileDeclaration,
  type Problem,
  settingName,
} from './contract/declarations.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A wrong setting: one sentence for the operator. The process ends with exit code 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

// Anchors are a convenience of hand-written files; more than this is an attack on memory.
const maxAliases = 100

interface Source {
  path: string
  doc: Document
  lines: LineCounter
}

export function parseConfigFile(text: string, path: string, env: Environment): FileDeclaration {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const source = { path, doc, lines }
  const broken = doc.errors[0] ?? doc.warnings[0]
  if (broken !== undefined) throw wrongAt(source, broken.pos[0], yamlSentence(broken))
  const filledIn = substitute(source, env)
  const value = readValue(source)
  const first = checkDeclaration(fileDeclaration, value)
  if ('value' in first) return first.value
  if (!numbersFromEnvironment(source, value, first.problems, filledIn)) {
    throw wrongDeclaration(source, first.problems)
  }
  const second = checkDeclaration(fileDeclaration, value)
  if ('value' in second) return second.value
  throw wrongDeclaration(source, second.problems)
}

// Where the parser's own words would puzzle an operator, or repeat what may be a secret.
const yamlSentences: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: 'the file must be a single YAML document',
  TAG_RESOLVE_FAILED: 'a value that begins with ! must be quoted',
  BAD_ALIAS: 'a value that begins with * must be quoted unless it names an anchor',
  DUPLICATE_KEY: 'a key stands here for the second time',
}

const yamlSentence = (error: YAMLError): string =>
  yamlSentences[error.code] ?? `YAML: ${plain(error.message)}`

const plain = (message: string) => message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')

function wrongAt({ path, lines }: Source, offset: number, sentence: string): ConfigError {
  const { line, col } = lines.linePos(offset)
  return new ConfigError(`${path}:${line}:${col}: ${sentence}`)
}

// After YAML parsing, so that what a variable holds can never become YAML. Keys stay as written.
function substitute(source: Source, env: Environment): Set<Node> {
  const filledIn = new Set<Node>()
  visit(source.doc, {
    Alias(_, node) {
      if (node.resolve(source.doc) !== undefined) return
      throw wrongAt(source, node.range?.[0] ?? 0, yamlSentences.BAD_ALIAS!)
    },
    Scalar(role, node, ancestors) {
      if (role === 'key' || typeof node.value !== 'string') return
      const filled = fillIn(node.value, env)
      if ('wrong' in filled) {
        const setting = settingName(pathTo([...ancestors, node]))
        throw wrongAt(source, node.range?.[0] ?? 0, `${setting} ${filled.wrong}`)
      }
      if (filled.text === node.value) return
      node.value = filled.text
      filledIn.add(node)
    },
  })
  return filledIn
}

function pathTo(nodes: readonly unknown[]): (string | number)[] {
  const path: (string | number)[] = []
  for (const [index, node] of nodes.entries()) {
    if (isPair(node)) path.push(isScalar(node.key) ? String(node.key.value) : '?')
    if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]))
  }
  return path
}

// '${A}' -> value of A   '${A:-b}' -> A, or b where A is unset or empty   '$${A}' -> '${A}'
function fillIn(text: string, env: Environment): { text: string } | { wrong: string } {
  let wrong: string | undefined
  const filled = text.replaceAll(
    /\$\$\{|\$\{([^}]*)(\}?)/g,
    (all, inside?: string, end?: string) => {
      if (inside === undefined) return '${'
      const parts = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside)
      if (parts === null || end === '') {
        wrong ??=
          'has a dollar sign and brace that enclose no variable name; double the dollar sign'
        return all
      }
      const [, variable = '', fallback] = parts
      const value = Object.hasOwn(env, variable) ? env[variable] : undefined
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
      if (value === undefined) {
        wrong ??= `needs the environment variable ${variable}, which is not set`
      }
      return value ?? ''
    },
  )
  return wrong === undefined ? { text: filled } : { wrong }
}

function readValue(source: Source): Record<string, unknown> {
  const { doc } = source
  let value: unknown
  try {
    value = doc.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    throw wrongAt(source, 0, `YAML: ${plain((error as Error).message)}`)
  }
  if (value === null || value === undefined) return {}
  if (!isMap(doc.contents)) {
    throw wrongAt(source, doc.contents?.range?.[0] ?? 0, 'the file must be a set of settings')
  }
  // A section whose lines are all commented out is no section.
  const sections = Object.entries(value).filter(([, section]) => section !== null)
  return Object.fromEntries(sections)
}

// A variable is always text; where a number is wanted, its digits are taken as one.
function numbersFromEnvironment(
  source: Source,
  value: Record<string, unknown>,
  problems: readonly Problem[],
  filledIn: ReadonlySet<Node>,
): boolean {
  let changed = false
  for (const { path } of problems.filter((problem) => problem.wantsNumber)) {
    const node = locate(source.doc, path).node
    const last = path.at(-1)
    if (node === undefined || last === undefined || !filledIn.has(node) || !isScalar(node)) continue
    if (!/^-?\d{1,15}(?:\.\d{1,9})?$/.test(String(node.value))) continue
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((at, step) => Reflect.get(at as object, step), value)
    Reflect.set(parent as object, last, Number(node.value))
    changed = true
  }
  return changed
}

// An unknown name comes first: a misspelt one is also reported as the right one missing.
function wrongDeclaration(source: Source, problems: readonly Problem[]): ConfigError {
  const placed = problems.map((problem) => ({
    problem,
    offset: offsetOf(locate(source.doc, problem.path), problem.unknownKey),
  }))
  placed.sort(
    (a, b) => Number(b.problem.unknownKey) - Number(a.problem.unknownKey) || a.offset - b.offset,
  )
  const { problem, offset } = placed[0]!
  return wrongAt(source, offset, `${settingName(problem.path)} ${problem.message}`)
}

interface Place {
  /** The node at the path, behind aliases, if there is one. */
  node: Node | undefined
  key: Node | undefined
  /** Where an operator should look: the deepest node on the way that is there. */
  at: Node | undefined
}

const offsetOf = (place: Place, atKey: boolean): number =>
  ((atKey ? place.key : undefined) ?? place.at)?.range?.[0] ?? 0

function locate(doc: Document, path: readonly (string | number)[]): Place {
  const behind = (node: unknown) => (isAlias(node) ? node.resolve(doc) : node) as Node | undefined
  let node = behind(doc.contents)
  let key: Node | undefined
  let at = node
  for (const step of path) {
    let next: unknown
    key = undefined
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === step)
      key = pair?.key as Node | undefined
      next = pair?.value
    } else if (isSeq(node)) {
      next = node.items[Number(step)]
    }
    at = ((next ?? key) as Node | undefined) ?? at
    node = behind(next)
  }
  return { node, key, at }
}

// Parses the text of gateway.yaml into a checked declaration, and reports where it is wrong. Knows
// no default path; the environment arrives as an argument. Of the disk it reads only the files that the text
// names as values.
import {
  type Document,
  type ErrorCode,
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
} from '../contract/config-schema/index.ts'
import { missingMailSettings } from '../contract/notices/mail.ts'
import { readSecretFile } from './secret-file.ts'
import { locate, offsetOf } from './yaml-places.ts'

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

/** One problem in the file, and where. */
export interface FileProblem {
  line: number
  column: number
  message: string
  /** The variable it refers to, which is not set, or `file:…` that cannot be read. */
  unset?: string
}

export interface FileReading {
  /** Absent when the file has a problem other than an unset variable. */
  value?: FileDeclaration
  /** Starts with the most useful one, in case only one is shown. */
  problems: readonly FileProblem[]
}

export function parseConfigFile(text: string, path: string, env: Environment): FileDeclaration {
  const { value, problems } = readConfigFile(text, path, env)
  if (value !== undefined && problems.length === 0) return value
  throw new ConfigError(problemLine(path, problems[0]!))
}

export const problemLine = (path: string, { line, column, message }: FileProblem): string =>
  `${path}:${line}:${column}: ${message}`

/** Where a setting is, or where it should be. */
export function placeIn(
  text: string,
  setting: readonly (string | number)[],
): Pick<FileProblem, 'line' | 'column'> {
  const lines = new LineCounter()
  const doc = parseDocument(text, { logLevel: 'error', uniqueKeys: false, lineCounter: lines })
  const { line, col: column } = lines.linePos(offsetOf(locate(doc, setting), false))
  return { line, column }
}

/** All problems at once. The value of an unset variable is not checked. */
export function readConfigFile(text: string, path: string, env: Environment): FileReading {
  const lines = new LineCounter()
  // The parser would compare each key with all before it; `substitute` finds keys that repeat.
  const options = { prettyErrors: false, logLevel: 'error', uniqueKeys: false } as const
  const doc = parseDocument(text, { ...options, lineCounter: lines })
  const source = { path, doc, lines }
  const broken = [...doc.errors, ...doc.warnings]
  if (broken.length > 0) {
    return { problems: broken.map((each) => problemAt(source, each.pos[0], yamlSentence(each))) }
  }
  const { filledIn, unset, problems } = substitute(source, env)
  if (problems.some((problem) => problem.unset === undefined)) return { problems }
  const value = readValue(source)
  if ('message' in value) return { problems: [...problems, value] }
  const read = (checked: FileDeclaration): FileReading => ({
    value: checked,
    problems: [...problems, ...mailProblems(source, checked, env)],
  })
  const first = checkDeclaration(fileDeclaration, value.settings)
  if ('value' in first) return read(first.value)
  numbersFromEnvironment(source, value.settings, first.problems, filledIn)
  const second = checkDeclaration(fileDeclaration, value.settings)
  if ('value' in second) return read(second.value)
  const real = second.problems
    .filter(({ path }) => !unset.has(locate(doc, path).node!))
    .filter((each) => !isSpeltOtherwise(each, second.problems))
  return { problems: [...problems, ...declarationProblems(source, real)] }
}

// Where the parser's own message would confuse an operator, or repeat what may be a secret.
const yamlSentences: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: 'the file must be a single YAML document',
  TAG_RESOLVE_FAILED: 'a value that begins with ! must be quoted',
  BAD_ALIAS: 'a value that begins with * must be quoted unless it names an anchor',
}
const repeatedKey = 'a key stands here for the second time'

const yamlSentence = (error: YAMLError): string =>
  yamlSentences[error.code] ?? `YAML: ${plain(error.message)}`

const plain = (message: string) => message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')

function problemAt({ lines }: Source, offset: number, message: string): FileProblem {
  const { line, col } = lines.linePos(offset)
  return { line, column: col, message }
}

interface Substituted {
  filledIn: Set<Node>
  /** Nodes that an unset variable would fill. */
  unset: Set<Node>
  problems: FileProblem[]
}

// After YAML parsing, so that the value of a variable can never become YAML. Keys stay as written.
function substitute(source: Source, env: Environment): Substituted {
  const result: Substituted = { filledIn: new Set(), unset: new Set(), problems: [] }
  visit(source.doc, {
    Map(_, { items }) {
      const repeated = repeatedKeysIn(items)
      result.problems.push(...repeated.map((offset) => problemAt(source, offset, repeatedKey)))
    },
    Alias(_, node) {
      if (node.resolve(source.doc) !== undefined) return
      const at = node.range?.[0] ?? 0
      result.problems.push(problemAt(source, at, yamlSentences.BAD_ALIAS!))
    },
    Scalar(role, node, ancestors) {
      if (role === 'key' || typeof node.value !== 'string') return
      const { text, wrong, unset } = fillIn(node.value, env, source.path)
      if (wrong !== undefined) {
        const setting = settingName(pathTo([...ancestors, node]))
        const problem = problemAt(source, node.range?.[0] ?? 0, `${setting} ${wrong}`)
        result.problems.push(unset === undefined ? problem : { ...problem, unset })
        result.unset.add(node)
      }
      if (text === node.value) return
      node.value = text
      result.filledIn.add(node)
    },
  })
  return result
}

/** Where keys stand that the map has already. */
function repeatedKeysIn(items: readonly { key: unknown }[]): number[] {
  const known = new Set<unknown>()
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    const isRepeated = known.has(key.value)
    known.add(key.value)
    return isRepeated ? [key.range?.[0] ?? 0] : []
  })
}

function pathTo(nodes: readonly unknown[]): (string | number)[] {
  const path: (string | number)[] = []
  for (const [index, node] of nodes.entries()) {
    if (isPair(node)) path.push(isScalar(node.key) ? String(node.key.value) : '?')
    if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]))
  }
  return path
}

/** Fits most fields, so that the fields around an unset variable can be checked. */
const anyValue = '0'

interface Filled {
  text: string
  wrong?: string
  unset?: string
}

// '${A}' -> value of A   '${A:-b}' -> A, or b where A is unset or empty   '$${A}' -> '${A}'
// '${file:/run/secrets/a}' -> content of the file
function fillIn(text: string, env: Environment, configPath: string): Filled {
  let wrong: Omit<Filled, 'text'> | undefined
  const filled = text.replaceAll(
    /\$\$\{|\$\{([^}]*)(\}?)/g,
    (all, inside?: string, end?: string) => {
      if (inside === undefined) return '${'
      const found = end === '' ? undefined : referredTo(inside, env, configPath)
      if (typeof found === 'string') return found
      wrong ??= found ?? notAName
      return found?.unset === undefined ? all : anyValue
    },
  )
  return { text: filled, ...wrong }
}

const notAName = {
  wrong: 'has a dollar sign and brace that enclose no variable name; double the dollar sign',
}

/** The value of a variable or file; undefined when it is the name of neither. */
function referredTo(
  inside: string,
  env: Environment,
  configPath: string,
): string | Omit<Filled, 'text'> | undefined {
  if (inside.startsWith('file:')) {
    const read = readSecretFile(inside.slice('file:'.length), configPath)
    return 'value' in read ? read.value : { wrong: read.problem, unset: inside }
  }
  const parts = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside)
  if (parts === null) return undefined
  const [, variable = '', fallback] = parts
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
  if (value !== undefined) return value
  return { wrong: `needs the environment variable ${variable}, which is not set`, unset: variable }
}

function readValue(source: Source): { settings: Record<string, unknown> } | FileProblem {
  const { doc } = source
  let value: unknown
  try {
    value = doc.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    return problemAt(source, 0, `YAML: ${plain((error as Error).message)}`)
  }
  if (value === null || value === undefined) return { settings: {} }
  if (!isMap(doc.contents)) {
    const at = doc.contents?.range?.[0] ?? 0
    return problemAt(source, at, 'the file must be a set of settings')
  }
  // A section with all lines commented out counts as absent.
  const sections = Object.entries(value).filter(([, section]) => section !== null)
  return { settings: Object.fromEntries(sections) }
}

// A variable is always text; where a number is wanted, its digits are taken as one.
function numbersFromEnvironment(
  source: Source,
  value: Record<string, unknown>,
  problems: readonly Problem[],
  filledIn: ReadonlySet<Node>,
): void {
  for (const { path } of problems.filter((problem) => problem.wantsNumber)) {
    const node = locate(source.doc, path).node
    const last = path.at(-1)
    if (node === undefined || last === undefined || !filledIn.has(node) || !isScalar(node)) continue
    if (!/^-?\d{1,15}(?:\.\d{1,9})?$/.test(String(node.value))) continue
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((at, step) => Reflect.get(at as object, step), value)
    Reflect.set(parent as object, last, Number(node.value))
  }
}

/** A misspelt name is also reported as the right one missing, which would only confuse. */
const isSpeltOtherwise = (problem: Problem, all: readonly Problem[]): boolean =>
  problem.message === 'is missing' &&
  all.some(
    ({ path, unknownKey }) =>
      unknownKey && settingName(path.slice(0, -1)) === settingName(problem.path.slice(0, -1)),
  )

// Unknown names come first: other problems may follow from them.
function declarationProblems(source: Source, problems: readonly Problem[]): FileProblem[] {
  const placed = problems.map((problem) => ({
    problem,
    offset: offsetOf(locate(source.doc, problem.path), problem.unknownKey),
  }))
  placed.sort(
    (a, b) => Number(b.problem.unknownKey) - Number(a.problem.unknownKey) || a.offset - b.offset,
  )
  return placed.map(({ problem, offset }) =>
    problemAt(source, offset, `${settingName(problem.path)} ${problem.message}`),
  )
}

/** E-mail is declared, but there is no server to send it by. */
function mailProblems(
  source: Source,
  { webhooks }: FileDeclaration,
  env: Environment,
): FileProblem[] {
  const path = ['webhooks', webhooks.findIndex(({ email }) => email !== undefined), 'email']
  const [unset] = missingMailSettings((variable) => env[variable])
  if (path[1] === -1 || unset === undefined) return []
  const message = `${settingName(path)} needs the environment variable ${unset}, which is not set`
  return [{ ...problemAt(source, offsetOf(locate(source.doc, path), true), message), unset }]
}

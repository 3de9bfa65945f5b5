// Writes docs/run/configuration.md: the table of environment variables, which is written by hand there and
// kept, and every setting of gateway.yaml from its schema. Run it after a change of a setting; a test
// compares the result.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const referencePath = join(root, 'docs/run/configuration.md')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Node {
  description?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  properties?: Readonly<Record<string, Node>>
  required?: readonly string[]
  items?: Node
  anyOf?: readonly Node[]
  oneOf?: readonly Node[]
  additionalProperties?: Node | boolean
}

export function referenceText(): string {
  const schema = JSON.parse(read('gateway.schema.json')) as Node
  const sections = Object.entries(schema.properties ?? {}).filter(([, node]) => isDeep(node))
  const plain = Object.entries(schema.properties ?? {}).filter(([, node]) => !isDeep(node))
  return [
    '# Configuration\n',
    'For operators: every setting. Environment variables say where and how the gateway runs; `gateway.yaml`',
    'declares what it serves. A wrong setting refuses the start with one sentence that names it; `gateway reload`',
    'reads the file again. The JSON schema for editors is served at `/config.schema.json`, and',
    '[examples/gateway.yaml](../../examples/gateway.yaml) shows a whole file.\n',
    '## Environment\n',
    environmentRows().join('\n'),
    '\n## gateway.yaml\n',
    `\`\${NAME}\` in a value is taken from the environment, \`\${file:/run/secrets/name}\` from a file ([secrets](security.md#secrets-in-files)).\n`,
    table(plain.map(([name, node]) => row(name, node, false))),
    ...sections.map(([name, node]) => section(name, node)),
  ].join('\n')
}

const environmentRows = (): string[] => {
  const lines = readFileSync(referencePath, 'utf8').split('\n')
  const from = lines.indexOf('## Environment') + 2
  return lines.slice(from, lines.indexOf('', from))
}

const inner = (node: Node): Node => node.items ?? node
const isDeep = (node: Node): boolean =>
  inner(node).properties !== undefined || variants(node).length > 0
const variants = (node: Node): readonly Node[] =>
  (inner(node).anyOf ?? inner(node).oneOf ?? []).filter(({ properties }) => properties)

function section(name: string, node: Node): string {
  const said = node.description ?? ''
  const shapes = variants(node)
  const shape = inner(node)
  const list = node.items === undefined ? '' : ' A list.'
  const parts = shapes.length > 0 ? shapes : [shape]
  const tables = parts.map((part) => {
    const title = shapes.length > 0 ? `\n${titleOf(part)}\n` : ''
    return `${title}\n${table(rowsOf(part, ''))}`
  })
  return `\n### ${name}\n\n${said}${list}\n${tables.join('')}`.trimEnd()
}

/** Shapes of one setting differ by a constant: `unit: token`. */
function titleOf(node: Node): string {
  const [name, constant] =
    Object.entries(node.properties ?? {}).find(([, each]) => each.const !== undefined) ?? []
  return node.description ?? `With \`${name}: ${String(constant?.const)}\`:`
}

function rowsOf(node: Node, prefix: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, each]) => {
    const path = `${prefix}${name}`
    const own = row(path, each, node.required?.includes(name) === true)
    const deeper = inner(each)
    const dots = each.items === undefined ? '.' : '[].'
    return deeper.properties === undefined ? [own] : [own, ...rowsOf(deeper, `${path}${dots}`)]
  })
}

const table = (rows: readonly string[]): string =>
  ['| Setting | Value | Meaning |', '| --- | --- | --- |', ...rows, ''].join('\n')

const row = (path: string, node: Node, isRequired: boolean): string =>
  `| \`${path}\` | ${formOf(node)}${isRequired ? ', required' : ''} | ${saidOf(node)} |`

const saidOf = ({ description = '', default: given }: Node): string => {
  const isTold = given === undefined || typeof given === 'object' || /Default/.test(description)
  const words = isTold ? description : `${description} Default ${String(given)}.`
  return words.replaceAll('|', '\\|')
}

function formOf(node: Node): string {
  if (node.enum !== undefined) return node.enum.map((each) => `\`${String(each)}\``).join(', ')
  if (node.const !== undefined) return `\`${String(node.const)}\``
  const types = [node.type ?? 'object'].flat()
  const [type = 'object'] = types
  const words: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'whole number',
    number: 'number',
    boolean: '`true`, `false`',
    array: 'list',
    object: 'group',
  }
  return words[type] ?? type
}

if (import.meta.main) await Bun.write(referencePath, referenceText())

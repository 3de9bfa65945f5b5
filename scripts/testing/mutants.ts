// Small faults that could stand in a source file: an operator turned round, a condition negated, a constant
// changed, a statement left out. A test run that does not notice one of them says what the tests miss.
import { ts } from '@ts-morph/common'

export interface Mutant {
  line: number
  start: number
  end: number
  was: string
  becomes: string
}

const operators = new Map(
  Object.entries({
    ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
    ...{ '&&': '||', '||': '&&', '+': '-', '-': '+', '*': '+', '/': '*', '%': '*' },
    ...{ '+=': '-=', '-=': '+=', '??': '&&' },
  }),
)
const calls = new Map(
  Object.entries({
    min: 'max',
    max: 'min',
    some: 'every',
    every: 'some',
  }),
)

/** A text with `+` is joined, not computed: a minus there is noticed by the first look at it. */
const isText = (node: ts.Node): boolean =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)))

type Change = [node: ts.Node, becomes: string]

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) {
    const sign = node.operatorToken.getText()
    const other = operators.get(sign)
    return other === undefined || isText(node) ? [] : [[node.operatorToken, other]]
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, node.operand.getText()]]
  }
  if (ts.isIfStatement(node)) return [[node.expression, 'false']]
  if (ts.isConditionalExpression(node)) return [[node.condition, 'false']]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, 'false']]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, 'true']]
  if (ts.isBigIntLiteral(node)) return [[node, node.text === '0n' ? '1n' : '0n']]
  if (ts.isNumericLiteral(node)) return [[node, node.text === '0' ? '1' : '0']]
  if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent)) {
    const other = calls.get(node.name.text)
    return other === undefined || node.parent.expression !== node ? [] : [[node.name, other]]
  }
  if (!ts.isExpressionStatement(node)) return []
  const called = ts.isAwaitExpression(node.expression)
    ? node.expression.expression
    : node.expression
  const acts = ts.isCallExpression(called) || ts.isBinaryExpression(called)
  return acts ? [[node, ';']] : []
}

/** Every fault that changes the program, in the order of the file: what only types say is left alone. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const loader = path.endsWith('x') ? 'tsx' : 'ts'
  const transpiler = new Bun.Transpiler({ loader })
  const program = transpiler.transformSync(text)
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return
    for (const [at, becomes] of changesOf(node)) {
      const [start, end] = [at.getStart(), at.getEnd()]
      const line = file.getLineAndCharacterOfPosition(start).line + 1
      found.push({ line, start, end, was: text.slice(start, end), becomes })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found.filter((mutant) => {
    try {
      return transpiler.transformSync(withMutant(text, mutant)) !== program
    } catch {
      // No program: `a ?? b || c` needs brackets.
      return false
    }
  })
}

export const withMutant = (text: string, { start, end, becomes }: Mutant): string =>
  text.slice(0, start) + becomes + text.slice(end)

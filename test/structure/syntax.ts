// What the fences need of a file's syntax tree, collected in one walk: functions with their lengths, the
// identifiers, the texts, and the exported names.
import { ts } from '@ts-morph/common'
import type { SourceFile } from './sources.ts'

export interface FoundFunction {
  name: string
  line: number
  lines: number
}

export interface FoundExport {
  name: string
  isType: boolean
}

export interface Syntax {
  functions: FoundFunction[]
  identifiers: Set<string>
  /** String literals and template texts. */
  texts: string[]
  exports: FoundExport[]
}

const parse = ({ path, text }: SourceFile) =>
  ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  )

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionDeclaration(node) ||
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isAccessor(node)

/** Its own name, or that of what it is assigned to. */
function nameOf(node: ts.FunctionLikeDeclaration): string {
  if (node.name !== undefined) return node.name.getText()
  let holder: ts.Node = node.parent
  // const View = memo(() => …)
  if (ts.isCallExpression(holder)) holder = holder.parent
  if (ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder)) {
    return holder.name.getText()
  }
  return '(no name)'
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/** Names that a statement exports itself; what it passes on from other files is theirs. */
function exportsOf(statement: ts.Statement): FoundExport[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, moduleSpecifier, isTypeOnly } = statement
    if (moduleSpecifier !== undefined || exportClause === undefined) return []
    if (!ts.isNamedExports(exportClause)) return []
    return exportClause.elements.map((each) => ({
      name: each.name.text,
      isType: isTypeOnly || each.isTypeOnly,
    }))
  }
  if (!isExported(statement)) return []
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => ({
      name: name.getText(),
      isType: false,
    }))
  }
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
  const isValue = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
  if (!isType && !isValue) return []
  return statement.name === undefined ? [] : [{ name: statement.name.text, isType }]
}

export function syntaxOf(file: SourceFile): Syntax {
  const source = parse(file)
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1
  const found: Syntax = { functions: [], identifiers: new Set(), texts: [], exports: [] }
  const walk = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.identifiers.add(node.text)
    else if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) {
      if (!ts.isImportDeclaration(node.parent)) found.texts.push(node.text)
    } else if (ts.isJsxText(node)) found.texts.push(node.text)
    else if (isFunction(node) && node.body !== undefined) {
      const line = lineOf(node.getStart(source))
      found.functions.push({ name: nameOf(node), line, lines: lineOf(node.end) - line + 1 })
    }
    ts.forEachChild(node, walk)
  }
  walk(source)
  found.exports = source.statements.flatMap(exportsOf)
  return found
}

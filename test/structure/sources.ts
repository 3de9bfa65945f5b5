// The files that the fences look at, and the modules each of them names.
import { readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'

export interface SourceFile {
  path: string
  text: string
}

export const root = resolve(import.meta.dir, '../..')
export const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')

/** Tests, and what tests of one folder share. */
export const isTest = (path: string): boolean => /(\.test\.tsx?|\/test-[\w-]+\.ts)$/.test(path)

/** All code that is not in test/. */
export function readSources(): SourceFile[] {
  const folders = 'src,sandbox,console,simulation,bench,scripts'
  const paths = [...new Bun.Glob(`{${folders}}/**/*.{ts,tsx}`).scanSync({ cwd: root })]
  return paths.sort().map((path) => ({ path, text: read(path) }))
}

export function readTests(): SourceFile[] {
  const paths = [...new Bun.Glob('{test,examples}/**/*.ts').scanSync({ cwd: root })]
  return paths.sort().map((path) => ({ path, text: read(path) }))
}

/** Pages that describe the present; histories and lists of old names are not among them. */
export function readPages(): SourceFile[] {
  const paths = ['README.md', 'CONTRIBUTING.md', ...new Bun.Glob('docs/**/*.md').scanSync(root)]
  const isHistory = (path: string) => posix.basename(path) === 'upgrade.md'
  const pages = paths.filter((path) => !isHistory(path))
  return pages.sort().map((path) => ({ path, text: read(path) }))
}

const tsxScanner = new Bun.Transpiler({ loader: 'tsx' })
const tsScanner = new Bun.Transpiler({ loader: 'ts' })

/**
 * Every module a file names. The scanner drops what only types use, and an import of types is an
 * import too, so the word `type` is taken out first.
 */
export function importsOf(file: SourceFile): string[] {
  const untyped = file.text
    .replace(/\bimport\s+type\b(?=\s*[\w$*{])(?!\s+from\b)/g, 'import')
    .replace(/\bexport\s+type\b(?=\s*[*{])/g, 'export')
    .replace(/([{,]\s*)type\s+(?=[\w$]+(\s+as\s+[\w$]+)?\s*[,}])/g, '$1')
  const found = (file.path.endsWith('x') ? tsxScanner : tsScanner)
    .scanImports(untyped)
    .map((found) => found.path)
  const inTypes = file.text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)
  const workers = file.text.matchAll(/\bnew URL\(\s*['"](\.[^'"]+)['"],\s*import\.meta\.url/g)
  for (const [, path] of [...inTypes, ...workers]) found.push(path!)
  return [...new Set(found)]
}

/** './b.ts' named in src/a.ts -> 'src/b.ts' */
export const resolveImport = (from: string, name: string): string =>
  posix.join(posix.dirname(from), name)

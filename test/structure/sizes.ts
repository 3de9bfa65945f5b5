// How long files and functions are, and how full folders: the limits that CONTRIBUTING.md states.
import { posix } from 'node:path'
import type { SourceFile } from './sources.ts'
import type { Syntax } from './syntax.ts'

export const maxFileLines = 300
export const maxFunctionLines = 40
/** A component of the console is mostly markup. */
export const maxComponentLines = 80
export const maxFilesPerFolder = 16

export function longFile({ path, text }: SourceFile): string[] {
  const lines = text.trimEnd().split('\n').length
  return lines > maxFileLines ? [`${path} has ${lines} lines`] : []
}

export function longFunctions(path: string, { functions }: Syntax): string[] {
  return functions.flatMap(({ name, line, lines }) => {
    const isComponent = path.endsWith('.tsx') && /^[A-Z]/.test(name)
    const limit = isComponent ? maxComponentLines : maxFunctionLines
    return lines > limit ? [`${path}:${line} ${name} has ${lines} lines`] : []
  })
}

export function fullFolders(files: readonly SourceFile[]): string[] {
  const folders = Map.groupBy(files, ({ path }) => posix.dirname(path))
  return [...folders]
    .filter(([, members]) => members.length > maxFilesPerFolder)
    .map(([folder, members]) => `${folder} has ${members.length} files`)
}

// How long files and functions are, and how full folders: the limits that CONTRIBUTING.md states.
import { posix } from 'node:path'
import type { SourceFile } from './sources.ts'
import type { Syntax } from './syntax.ts'

export const maxFileLines = 400
export const maxFunctionLines = 40
/** A component of the console is mostly markup. */
export const maxComponentLines = 80
export const maxFilesPerFolder = 20

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

/** A numbered history, which is read one by one and only grows. */
const isStep = ({ path }: SourceFile) => /\/\d{4}-[\w-]+\.ts$/.test(path)

export function fullFolders(files: readonly SourceFile[]): string[] {
  const counted = files.filter((file) => !isStep(file))
  const folders = Map.groupBy(counted, ({ path }) => posix.dirname(path))
  return [...folders]
    .filter(([, members]) => members.length > maxFilesPerFolder)
    .map(([folder, members]) => `${folder} has ${members.length} files`)
}

// Applies the declarations of the configuration file. What the database does not allow is told with
// its place in the file.
import { readFileSync } from 'node:fs'
import { placeIn, problemLine } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import {
  applyDeclarations,
  type DeclarationDeps,
  DeclarationRefused,
  type MadeToken,
} from '../engine/catalog/apply-declarations.ts'

export async function applyFile(
  deps: DeclarationDeps,
  { file, configPath }: Pick<Config, 'file' | 'configPath'>,
): Promise<MadeToken[]> {
  try {
    return await applyDeclarations(deps, file)
  } catch (error) {
    if (!(error instanceof DeclarationRefused) || configPath === undefined) throw error
    throw new DeclarationRefused(placed(configPath, error))
  }
}

function placed(path: string, { message, at }: DeclarationRefused): string {
  try {
    if (at === undefined) return `${path}: ${message}`
    return problemLine(path, { ...placeIn(readFileSync(path, 'utf8'), at), message })
  } catch {
    // Moved or changed since it was read.
    return `${path}: ${message}`
  }
}

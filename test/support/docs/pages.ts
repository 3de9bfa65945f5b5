// Every text of the repository that people read, and the code that it shows.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../gateway.ts'
import { type Fence, fencesIn } from './fences.ts'

const notOurs = ['node_modules', 'data', 'dist']
const isFolder = (name: string): boolean => !name.startsWith('.') && !notOurs.includes(name)

/** Paths of all Markdown files, from the root of the repository. */
export const pages: readonly string[] = readdirSync(root, { withFileTypes: true })
  .flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name]
    if (!isFolder(entry.name)) return []
    const names = readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' })
    return names.map((name) => join(entry.name, name))
  })
  .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
  .sort()

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8')

export const fencesOf = (page: string): Fence[] => fencesIn(textOf(page))

// Locations of bundled assets (thread scripts, docs, console). In the repository they are files
// beside the source; a built program replaces this file with another.
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Assets {
  /** Command that starts this program again. */
  command: readonly string[]
  /** Script of the SQLite database thread. */
  databaseThread: string
  /** Script of the thread that reads imported lists. */
  importThread: string
  /** Script of the thread that decodes and encodes long texts. */
  jsonThread: string
  /** Script of the thread that translates large requests. */
  translationThread: string
  configSchema(): Promise<string>
  /** The texts under docs, by path without the extension. */
  docs: ReadonlyMap<string, string>
  /** The built console, by file name; absent: bundled on first request. */
  consoleFiles?: ReadonlyMap<string, string>
  /** A single executable file: it has no environment prepared for it. */
  standsAlone?: boolean
}

const inSource = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const readText = (path: string): Promise<string> => Bun.file(inSource(path)).text()

function textsUnder(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = names.filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
  return new Map(texts.map((name) => [name.slice(0, -'.md'.length), `${folder}/${name}`]))
}

export const assets: Assets = {
  command: [process.execPath, inSource('main.ts')],
  databaseThread: inSource('store/dialects/sqlite/worker.ts'),
  importThread: inSource('admin/catalog/import-thread.ts'),
  jsonThread: inSource('lib/json/json-worker.ts'),
  translationThread: inSource('providers/translation-worker.ts'),
  get docs() {
    return textsUnder(inSource('../docs'))
  },
  configSchema: () => readText('../gateway.schema.json'),
}

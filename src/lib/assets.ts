// Where those parts of the program lie that are not code of this process: run from the repository,
// they are files beside the source. A built program has another file in this one's place.
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Assets {
  /** Starts this program once more. */
  command: readonly string[]
  /** What the thread that writes to SQLite runs. */
  databaseThread: string
  /** What the thread that reads imported lists runs. */
  importThread: string
  configSchema(): Promise<string>
  /** The texts under docs, by their path there without the ending. */
  docs: ReadonlyMap<string, string>
  /** The console, ready to be served, by file name; without it, it is bundled when first asked for. */
  consoleFiles?: ReadonlyMap<string, string>
  /** One file that runs by itself: nobody has set its environment for it. */
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
  get docs() {
    return textsUnder(inSource('../docs'))
  },
  configSchema: () => readText('../gateway.schema.json'),
}

// Builds what is shipped: `bun scripts/build.ts OUT` puts a program of a few files into the folder OUT,
// `--package` the npm package around it, `--alone [--runtime BUN --target KIND] [--name NAME]` one
// executable with everything inside, for the kind of machine (darwin-x64) that the runtime BUN is for.
// Refuses to know what the program does.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'

const root = resolve(import.meta.dir, '..')
const assetsFile = join(root, 'src/lib/assets.ts')
/** Threads, each with a program of its own: what it is called in the build, and where it lies here. */
const threads = {
  databaseThread: { file: 'database-thread.js', source: 'src/store/dialects/sqlite/worker.ts' },
  importThread: { file: 'import-thread.js', source: 'src/admin/catalog/import-thread.ts' },
  jsonThread: { file: 'json-thread.js', source: 'src/lib/json/json-worker.ts' },
  translationThread: {
    file: 'translation-thread.js',
    source: 'src/providers/translation-worker.ts',
  },
} as const
const programFile = 'gateway.js'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    alone: { type: 'boolean', default: false },
    runtime: { type: 'string' },
    target: { type: 'string' },
    name: { type: 'string', default: 'model-gateway' },
    package: { type: 'boolean', default: false },
  },
})
const [folder] = positionals

/**
 * One file for each part that is loaded by itself: what a gateway never uses takes no memory. Only an
 * executable can hold them compiled ahead.
 */
const inParts = { format: 'esm', splitting: true } as const
const partsFolder = 'parts'

/** A program, the threads' programs and the console's files, side by side. */
async function buildBeside(to: string): Promise<void> {
  await bundleThreads(to)
  const names = await bundleConsole(join(to, 'console'))
  const texts = docNames()
  for (const name of texts) cpSync(join(root, 'docs', name), join(to, 'docs', name))
  const text = `
    import { dirname, join } from 'node:path'
    const beside = (name) => join(dirname(Bun.main), name)
    ${await readTexts()}
    export const assets = {
      command: [process.execPath, beside('${programFile}')],
      ${Object.entries(threads)
        .map(([name, { file }]) => `${name}: beside('${file}'),`)
        .join('\n')}
      configSchema: async () => configSchema,
      docs: new Map(${JSON.stringify(texts)}.map((name) => [name.slice(0, -3), beside('docs/' + name)])),
      consoleFiles: new Map(${JSON.stringify(names)}.map((name) => [name, beside('console/' + name)])),
    }`
  rmSync(join(to, partsFolder), { recursive: true, force: true })
  await bundle({
    entrypoints: [join(root, 'src/main.ts')],
    outdir: to,
    naming: { entry: programFile, chunk: `${partsFolder}/[hash].[ext]` },
    plugins: [inPlaceOfAssets(text)],
    ...inParts,
  })
}

/** What `scripts/package` packs: the built program and the runtime, nothing else to install. */
async function buildPackage(to: string): Promise<void> {
  rmSync(join(to, 'dist'), { recursive: true, force: true })
  await buildBeside(join(to, 'dist'))
  for (const path of packed) cpSync(join(root, path), join(to, path), { recursive: true })
  const whole = (await Bun.file(join(root, 'package.json')).json()) as Record<string, unknown>
  const kept = ['name', 'version', 'description', 'license', 'engines', 'optionalDependencies']
  const manifest = {
    ...Object.fromEntries(kept.map((name) => [name, whole[name]])),
    bin: { 'model-gateway': 'bin/gateway', gateway: 'bin/gateway' },
    files: ['dist', ...packed],
  }
  await Bun.write(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

const packed = ['bin/gateway', 'scripts/bun', 'README.md', 'CHANGELOG.md', 'LICENSE']

/** The same, all of it inside one executable. */
async function buildAlone(to: string): Promise<void> {
  const parts = join(to, `.parts-${process.pid}`)
  try {
    await bundleThreads(parts)
    const names = await bundleConsole(join(parts, 'console'))
    const inside: string[] = []
    const mapOf = (files: readonly (readonly [name: string, path: string])[]): string => {
      const rows = files.map(([name, path]) => {
        const file = `file${inside.push(path)}`
        return `[${JSON.stringify(name)}, ${file}]`
      })
      return `new Map([${rows.join(', ')}])`
    }
    const consoleFiles = mapOf(names.map((name) => [name, join(parts, 'console', name)]))
    const docs = mapOf(docNames().map((name) => [name.slice(0, -3), join(root, 'docs', name)]))
    const imports = inside.map(
      (path, at) => `import file${at + 1} from ${JSON.stringify(path)} with { type: 'file' }`,
    )
    const text = `
      ${Object.entries(threads)
        .map(
          ([name, { file }]) =>
            `import ${name} from ${JSON.stringify(join(parts, file))} with { type: 'file' }`,
        )
        .join('\n')}
      ${imports.join('\n')}
      ${await readTexts()}
      export const assets = {
        command: [process.execPath],
        ${Object.keys(threads).join(', ')},
        configSchema: async () => configSchema,
          docs: ${docs},
        consoleFiles: ${consoleFiles},
        standsAlone: true,
      }`
    await bundle({
      entrypoints: [join(root, 'src/main.ts')],
      compile: {
        outfile: join(to, values.name),
        autoloadBunfig: false,
        autoloadDotenv: false,
        ...(values.runtime !== undefined && { executablePath: resolve(values.runtime) }),
        ...(values.target !== undefined && { target: targetNamed(values.target) }),
      },
      plugins: [inPlaceOfAssets(text)],
      bytecode: true,
      ...inParts,
    })
  } finally {
    rmSync(parts, { recursive: true, force: true })
  }
}

/** What the guide is made of. */
const docNames = (): string[] =>
  readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
    .sort()

type Target = NonNullable<Bun.CompileBuildOptions['target']>
const targetNamed = (kind: string): Target => `bun-${kind}` as Target

async function bundleThreads(to: string): Promise<void> {
  for (const { file, source } of Object.values(threads)) {
    await bundle({ entrypoints: [join(root, source)], outdir: to, naming: file })
  }
}

async function bundleConsole(to: string): Promise<string[]> {
  const building = `${to}.${process.pid}`
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, join(root, 'console/build.ts'), building],
    { env: { NODE_ENV: 'production' }, stdout: 'ignore' },
  )
  if (exitCode !== 0) giveUp(`the console cannot be bundled: ${stderr}`)
  rmSync(to, { recursive: true, force: true })
  renameSync(building, to)
  return readdirSync(to).sort()
}

/** What is read as text while it runs from the repository. */
async function readTexts(): Promise<string> {
  const schema = await Bun.file(join(root, 'gateway.schema.json')).text()
  return `const configSchema = ${JSON.stringify(schema)}`
}

const inPlaceOfAssets = (contents: string): BunPlugin => ({
  name: 'assets',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]lib[\\/]assets\.ts$/ }, ({ path }) =>
      path === assetsFile ? { contents, loader: 'js' } : undefined,
    )
  },
})

async function bundle(config: Parameters<typeof Bun.build>[0]): Promise<void> {
  const built = await Bun.build({
    target: 'bun',
    // Names stay, so that a stack still says where.
    minify: { whitespace: true, syntax: true, identifiers: false },
    throw: false,
    ...config,
  } as Parameters<typeof Bun.build>[0])
  if (!built.success) giveUp(built.logs.map(String).join('\n'))
}

class Stopped extends Error {}

function giveUp(why: string): never {
  throw new Stopped(why)
}

try {
  if (folder === undefined || positionals.length > 1) giveUp('which folder? (one)')
  const out = resolve(folder)
  mkdirSync(out, { recursive: true })
  await (values.alone ? buildAlone(out) : values.package ? buildPackage(out) : buildBeside(out))
} catch (error) {
  if (!(error instanceof Stopped)) throw error
  process.stderr.write(`build: ${error.message}\n`)
  process.exitCode = 1
}

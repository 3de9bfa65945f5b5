// Bundles the console into the folder it is given: `bun console/build.ts OUT`. One entry, a file for
// each page that is opened later, the fonts, the mark, and the little script that chooses light or dark
// before anything is painted. Beside them script and style of the documentation.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { BunPlugin } from 'bun'
import { usedStyles } from './used-styles.ts'

const [out] = process.argv.slice(2)
if (out === undefined) throw new Error('which folder?')
const here = import.meta.dir

/** Fonts stay files beside the style, named by their content: pages take no font from a data address. */
const fontFiles: BunPlugin = {
  name: 'fonts',
  setup({ onResolve }) {
    onResolve({ filter: /\.woff2$/ }, async ({ path, importer }) => {
      const file = join(dirname(importer), path)
      const hash = Bun.hash(await Bun.file(file).bytes()).toString(36)
      const name = `${basename(path, '.woff2')}-${hash}.woff2`
      copyFileSync(file, join(out, name))
      return { path: `./${name}`, external: true }
    })
  },
}

async function bundle(config: Omit<Parameters<typeof Bun.build>[0], 'outdir'>): Promise<void> {
  const built = await Bun.build({
    ...{ target: 'browser', minify: true, plugins: [fontFiles], throw: false },
    ...config,
    outdir: out,
  } as Parameters<typeof Bun.build>[0])
  if (built.success) return
  for (const log of built.logs) console.error(String(log))
  process.exit(1)
}

/** The style of the console has the rules that its scripts use, and a name by what is left. */
async function leaveOutUnused(): Promise<void> {
  const textsOf = (ending: string) =>
    readdirSync(out!)
      .filter((name) => name.endsWith(ending))
      .map((name) => readFileSync(join(out!, name), 'utf8'))
  const [style = ''] = textsOf('.css')
  const used = usedStyles(style, textsOf('.js').join('\n'))
  for (const name of readdirSync(out!)) if (name.endsWith('.css')) rmSync(join(out!, name))
  writeFileSync(join(out!, `main-${Bun.hash(used).toString(36)}.css`), used)
}

mkdirSync(out, { recursive: true })
await bundle({
  entrypoints: [join(here, 'main.tsx')],
  splitting: true,
  naming: { entry: 'main-[hash].[ext]', chunk: 'part-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  publicPath: '/console/',
})
await leaveOutUnused()
await bundle({ entrypoints: [join(here, 'site/main.ts')], naming: 'site.[ext]' })
for (const name of ['theme.js', 'mark.svg', 'site/site-theme.js']) {
  copyFileSync(join(here, name), join(out, basename(name)))
}

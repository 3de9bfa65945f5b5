// Bundles the console into the folder it is given: `bun console/build.ts OUT`. One entry, a file for
// each page that is opened later, the fonts, the mark, and the little script that chooses light or dark
// before anything is painted. Beside them script and style of the documentation.
import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { BunPlugin } from 'bun'

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

mkdirSync(out, { recursive: true })
await bundle({
  entrypoints: [join(here, 'main.tsx')],
  splitting: true,
  naming: { entry: 'main-[hash].[ext]', chunk: 'part-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  publicPath: '/console/',
})
await bundle({ entrypoints: [join(here, 'site/main.ts')], naming: 'site.[ext]' })
for (const name of ['theme.js', 'mark.svg', 'site/site-theme.js']) {
  copyFileSync(join(here, name), join(out, basename(name)))
}

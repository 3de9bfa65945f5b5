// Bundles the console into the folder it is given: `bun console/build.ts OUT`. One entry, a file for
// each page that is opened later, and the little script that chooses light or dark before anything
// is painted.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'

const [out] = process.argv.slice(2)
if (out === undefined) throw new Error('which folder?')
const here = import.meta.dir

const built = await Bun.build({
  entrypoints: [join(here, 'main.tsx')],
  outdir: out,
  target: 'browser',
  minify: true,
  splitting: true,
  naming: { entry: 'main-[hash].[ext]', chunk: 'part-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  publicPath: '/console/',
})
if (!built.success) {
  for (const log of built.logs) console.error(String(log))
  process.exit(1)
}
copyFileSync(join(here, 'theme.js'), join(out, 'theme.js'))

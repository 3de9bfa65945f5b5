// Writes the TypeScript types of OpenAPI documents beside them, in a process of its own. The generator wants the
// interface of an older compiler than the one that checks this repository, so it is handed that one.
import { ts } from '@ts-morph/common'
import { plugin } from 'bun'

plugin({
  name: 'older compiler',
  setup(build) {
    build.module('typescript', () => ({ exports: { ...ts, default: ts }, loader: 'object' }))
  },
})

const { default: openapiTypes, astToString } = await import('openapi-typescript')
const [...files] = process.argv.slice(2)
for (const file of files) {
  const document: unknown = await Bun.file(file).json()
  const nodes = await openapiTypes(document as Parameters<typeof openapiTypes>[0])
  await Bun.write(file.replace(/json$/, 'd.ts'), astToString(nodes))
}

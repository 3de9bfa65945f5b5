// Words of single vendors in the folders that serve all of them.
import type { SourceFile } from './sources.ts'

const vendors = /arkvendor|imgvendor|vendorg|vendor-g/i
const neutral = ['src/http/', 'src/openapi/', 'src/engine/', 'src/contract/', 'src/billing/']

export const vendorLines = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ path }) =>
      [...neutral, 'src/store/', 'src/lib/'].some((each) => path.startsWith(each)),
    )
    .filter(({ path }) => !path.startsWith('src/store/migrations/'))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) => (vendors.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
    )

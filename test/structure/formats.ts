// Lines of the console that write numbers, money or times by themselves instead of by its formats: they
// would miss the reader's language, time zone, currency or rounding.
import { isTest, type SourceFile } from './sources.ts'

const own =
  /\.(?:toFixed|toPrecision|toLocale\w*String|toDateString|toUTCString)\(|\bIntl\.|_?at\??\.slice\(0, ?1\d\)/

/** Numbers that nobody reads, names of periods in the admin API, and vectors, which have their own form. */
const exempt = [
  'console/lib/format.ts',
  'console/lib/format/',
  'console/pages/playground/request/estimate.ts',
  'console/pages/playground/result/latency-bar.tsx',
  'console/pages/playground/result/vectors-view.tsx',
  'console/pages/tokens/form.tsx',
]

export function ownFormats({ path, text }: SourceFile): string[] {
  if (!path.startsWith('console/') || isTest(path)) return []
  if (exempt.some((each) => path.startsWith(each))) return []
  return text
    .split('\n')
    .flatMap((line, at) => (own.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : []))
}

// An interface is its folders and a line of each registry. Where else its name stands, the list below says why.
import { expect, test } from 'bun:test'
import { callStyles } from '../../src/providers/call-styles.ts'
import { isTest, readSources } from './sources.ts'

/** Those that are neither text nor tasks, which share folders. */
const names = callStyles.map(({ protocol }) => protocol)

const registries = ['src/surfaces/index.ts', 'src/providers/call-styles.ts', 'sandbox/registry.ts']

const reasons: Readonly<Record<string, string>> = {
  'src/contract/catalog.ts': 'what a kind of model has: title, units, interfaces, protocols',
  'src/contract/config-schema/prices.ts': 'the unit of its price, described',
  'src/catalog/builtin.ts': 'a model of the kind, served by the sandbox',
  'src/providers/presets/hosts.ts': 'addresses of providers',
  'src/providers/presets/local.ts': 'addresses of providers',
  'src/providers/presets/makers.ts': 'addresses of providers',
  'src/admin/channels/add-models.ts': 'words in names of upstream models',
  'src/cli/movers/litellm/deployments.ts': 'words of another product',
  'src/cli/movers/litellm/providers.ts': 'words of another product',
  'src/cli/movers/new-api/channels.ts': 'words of another product',
  'src/cli/movers/new-api/prices.ts': 'words of another product',
  'src/contract/price-sources/litellm-rates.ts': 'words of a public price file',
  'src/contract/price-sources/litellm.ts': 'words of a public price file',
  'src/demo/calls.ts': 'the invented company',
  'src/demo/company.ts': 'the invented company',
  'src/demo/live.ts': 'the invented company',
  'src/demo/offer.ts': 'the invented company',
  'console/pages/playground/request/endpoints.ts': 'its form in the playground',
  'console/pages/playground/request/options.ts': 'its form in the playground',
  'console/pages/playground/request/tabs.ts': 'its form in the playground',
  'console/pages/playground/result/result.tsx': 'its answer in the playground',
}

const folders = names.flatMap((name) =>
  ['src/surfaces', 'src/providers', 'sandbox'].map((parent) => `${parent}/${name}/`),
)
const isComment = (line: string): boolean => /^\s*(\/\/|\/\*\*|\*)/.test(line)
const word = new RegExp(`\\b(${names.join('|')})\\b`)

const mentionedIn = (text: string): boolean =>
  text.split('\n').some((line) => !isComment(line) && word.test(line))

test('an interface is named in its folders, in the registries, and where there is a reason', () => {
  const found = readSources()
    .filter(({ path }) => /^(src|console|sandbox)\//.test(path) && !isTest(path))
    .filter(({ path }) => !folders.some((folder) => path.startsWith(folder)))
    .filter(({ text }) => mentionedIn(text))
    .map(({ path }) => path)
  expect(found.toSorted()).toEqual([...registries, ...Object.keys(reasons)].toSorted())
})

test('a name is found in code and not in comments', () => {
  expect(mentionedIn("const all = ['rerank']")).toBe(true)
  expect(mentionedIn('  // As rerank does.\n/** For speech. */')).toBe(false)
  expect(mentionedIn('const reranking = 1')).toBe(false)
})

// Blocks of code as HTML: highlighted, labelled, and those that say the same in several languages as one group
// of tabs. Works without a script, which adds the tabs and the buttons.
import { escapeHtml } from '../openapi/page-schema.ts'

interface Highlighter {
  registerLanguage(name: string, language: unknown): void
  highlight(code: string, options: { language: string }): { value: string }
}

// Required, not imported: its types would bring those of browsers into all of the gateway.
const hljs: Highlighter = require('highlight.js/lib/core')
const typescript: unknown = require('highlight.js/lib/languages/typescript')
const languages: Readonly<Record<string, unknown>> = {
  sh: require('highlight.js/lib/languages/bash'),
  json: require('highlight.js/lib/languages/json'),
  python: require('highlight.js/lib/languages/python'),
  yaml: require('highlight.js/lib/languages/yaml'),
  ts: typescript,
  js: typescript,
}
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

export interface Fence {
  /** The first word after the fence. */
  language: string
  /** What is printed by the code before it. */
  isOutput: boolean
  code: string
}

const names: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  yaml: 'YAML',
  csv: 'CSV',
  text: 'Text',
}

const nameOf = ({ language, isOutput, code }: Fence): string => {
  if (isOutput) return 'Output'
  if (language === 'sh' && /(^|[\s(|])curl\s/.test(code)) return 'curl'
  return names[language] ?? language
}

/**
 * Where a program reads its token from the environment: the reader's own token can be put there. Beside each
 * the quotation mark that it then needs.
 */
const tokenPlaces: readonly (readonly [pattern: RegExp, quote: string])[] = [
  [/\$GATEWAY_TOKEN\b/g, ''],
  [
    /process\.<span class="hljs-property">env<\/span>\.<span class="hljs-property">GATEWAY_TOKEN<\/span>/g,
    "'",
  ],
  [/os\.environ\[<span class="hljs-string">&quot;GATEWAY_TOKEN&quot;<\/span>\]/g, '&quot;'],
]

function highlighted({ language, code }: Fence): string {
  const html = language in languages ? hljs.highlight(code, { language }).value : escapeHtml(code)
  return tokenPlaces.reduce(
    (text, [pattern, quote]) =>
      text.replace(pattern, (found) => {
        const shown = found.replace(/<[^>]+>/g, '')
        return `<span data-token="${quote}">${shown}</span>`
      }),
    html,
  )
}

export const fenceHtml = (fence: Fence): string =>
  `<figure class="code"><figcaption>${escapeHtml(nameOf(fence))}</figcaption>` +
  `<pre tabindex="0"><code class="language-${fence.language || 'text'}">${highlighted(fence)}</code></pre></figure>`

/** What can say the same as another one; a file beside a command says something else. */
const programs: readonly string[] = ['sh', 'ts', 'js', 'python']

/** Blocks that follow each other without a word between them. */
export function fencesHtml(fences: readonly Fence[]): string {
  const examples: Fence[][] = []
  for (const fence of fences) {
    if (fence.isOutput && examples.length > 0) examples.at(-1)!.push(fence)
    else examples.push([fence])
  }
  const all = examples.map((example) => ({
    name: nameOf(example[0]!),
    html: example.map(fenceHtml).join(''),
  }))
  const isProgram = examples.every(([first]) => programs.includes(first!.language))
  const isGroup =
    isProgram && all.length > 1 && new Set(all.map(({ name }) => name)).size === all.length
  if (!isGroup) return all.map(({ html }) => html).join('')
  const tabs = all.map(({ name, html }) => `<div data-tab="${escapeHtml(name)}">${html}</div>`)
  return `<div class="tabs">${tabs.join('')}</div>`
}

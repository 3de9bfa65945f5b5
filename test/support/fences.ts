// Code in a page: which fences there are, running one against a gateway, and comparing what it printed
// with what the page says. In documented output `…` stands for anything.
import { join } from 'node:path'
import { root } from './gateway.ts'
import { ownEnv } from './own-env.ts'

export interface Fence {
  language: string
  mark: string
  text: string
  line: number
}

export const fencesIn = (markdown: string): Fence[] =>
  [...markdown.matchAll(/^```(\w+)(?: (\w+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    mark: match[2] ?? '',
    text: match[3]!,
    line: markdown.slice(0, match.index).split('\n').length,
  }))

/** What differs from run to run: as it is written, and as it must look. */
const shapes: readonly [written: RegExp, looks: string][] = [
  [/\b(req|acc|tok|chn|price)_[0-9a-f]{22,32}\b/g, '$1_[0-9a-f]+'],
  [/\b(sk|admin)-[A-Za-z0-9]{20,}/g, '$1-[A-Za-z0-9]+'],
  [/#[A-Za-z0-9]{20,}/g, '#[A-Za-z0-9]+'],
  [/\d{4}-\d\d-\d\dT[\d:]+\\\.\d+Z/g, '[\\d-]+T[\\d:.]+Z'],
  [/\b(127\\\.0\\\.0\\\.1|localhost):\d+/g, '$1:\\d+'],
  [/…/g, '.*'],
  [/ +/g, ' +'],
]

/** 'id  acc_01a1…' -> a pattern of the whole line, with any id and any number of spaces. */
function patternOf(line: string): RegExp {
  const plain = line.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pattern = shapes.reduce((text, [written, looks]) => text.replace(written, looks), plain)
  return new RegExp(`^${pattern}$`)
}

/** The first documented line that was not printed behind those before it. */
export function missingLine(documented: string, printed: string): string | undefined {
  const lines = printed.split('\n').map((line) => line.trim())
  let from = 0
  for (const line of documented.split('\n').filter((each) => each.trim() !== '')) {
    const pattern = patternOf(line)
    const found = lines.findIndex((each, index) => index >= from && pattern.test(each))
    if (found === -1) return line
    from = found + 1
  }
  return undefined
}

const hasPythonSdk = Bun.spawnSync(['sh', '-c', 'python3 -c "import openai" 2>&1']).success
if (!hasPythonSdk) {
  console.error(
    'left out: Python examples of the documentation (install the Python package openai)',
  )
}
export const commands: Readonly<Record<string, (text: string) => string[]>> = {
  sh: (text) => ['sh', '-eu', '-c', text],
  ts: (text) => [join(root, 'scripts/bun'), '-e', text],
  ...(hasPythonSdk && { python: (text: string) => ['python3', '-c', text] }),
}

/** Where examples are run, and as whom. */
export interface Stage {
  url: string
  token: string
  dataDir: string
  /** The last request id that an example printed; examples about a request are about that one. */
  lastRequestId: string
}

const limitMs = 60_000

export async function runFence(
  stage: Stage,
  { language, text }: Fence,
): Promise<{ code: number; printed: string }> {
  const here = text
    .replaceAll('http://localhost:8080', stage.url)
    .replace(/\breq_[0-9a-f]{32}\b/g, stage.lastRequestId)
  const child = Bun.spawn(['sh', '-c', 'exec "$@" 2>&1', 'sh', ...commands[language]!(here)], {
    cwd: root,
    env: {
      ...ownEnv,
      HOME: process.env['HOME'] ?? '',
      GATEWAY_URL: stage.url,
      GATEWAY_TOKEN: stage.token,
      GATEWAY_DATA_DIR: stage.dataDir,
    },
    stdout: 'pipe',
    timeout: limitMs,
  })
  const printed = await new Response(child.stdout).text()
  stage.lastRequestId = printed.match(/\breq_[0-9a-f]{32}\b/g)?.at(-1) ?? stage.lastRequestId
  return { code: await child.exited, printed }
}

// Code in a page: which fences there are, running one against a gateway, and comparing what it printed
// with what the page says. In documented output `…` stands for anything.
import { join } from 'node:path'
import { root } from '../gateway.ts'
import { ownEnv } from '../own-env.ts'
import { python } from '../python.ts'

export interface Fence {
  language: string
  mark: string
  text: string
  line: number
}

export const fencesIn = (markdown: string): Fence[] =>
  [...markdown.matchAll(/^```(\w*)(?: (\w+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    mark: match[2] ?? '',
    text: match[3]!,
    line: markdown.slice(0, match.index).split('\n').length,
  }))

/** 'sh run' */
export const kindOf = ({ language, mark }: Fence): string => `${language} ${mark}`.trim()

/** A file shown as a whole says where it belongs in the comment it begins with. */
export function fileIn({ text }: Fence): { path: string; text: string } {
  const [, path] = /^(?:\/\/|#) (\S+)\n/.exec(text) ?? []
  if (path === undefined) throw new Error(`a file without its path:\n${text}`)
  return { path, text }
}

/** Something to run, and what it must print. */
export interface Example extends Fence {
  output: string | undefined
}

/** What can be run of some fences, with the `text output` that follows it. */
export const examplesIn = (fences: readonly Fence[], marks: readonly string[]): Example[] =>
  fences.flatMap((fence, at) => {
    if (!marks.includes(fence.mark) || commands[fence.language] === undefined) return []
    const after = fences[at + 1]
    const isShown = after !== undefined && kindOf(after) === 'text output'
    return [{ ...fence, output: isShown ? after.text : undefined }]
  })

/** What differs from run to run: as it is written, and as it must look. */
const shapes: readonly [written: RegExp, polls: string][] = [
  [/\b(req|acc|tok|chn|price|loss|stm|export|alr|msg|video)_[0-9a-f]{16,32}\b/g, '$1_[0-9a-f]+'],
  [/\b(sk|admin)-[A-Za-z0-9]{20,}/g, '$1-[A-Za-z0-9]+'],
  [/\bsk-[A-Za-z0-9]{5}(?![\w-])/g, 'sk-[A-Za-z0-9]{5}'],
  [/\bsbx-[0-9a-f]{8}-\d+/g, 'sbx-[0-9a-f]{8}-\\d+'],
  // Tasks of the sandbox.
  [/\b[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12,}/g, '[0-9a-z-]+'],
  [/#[A-Za-z0-9]{20,}/g, '#[A-Za-z0-9]+'],
  // Hashes, keys and signatures.
  [/(?<![\w-])[\w-]{86}(?![\w-])/g, '[\\w-]{86}'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, '[\\w-]{43}'],
  [/\d{4}-\d\d-\d\dT[\d:]+\\\.\d+Z/g, '[\\d-]+T[\\d:.]+Z'],
  [/\b(127\\\.0\\\.0\\\.1|localhost):\d+/g, '$1:\\d+'],
  [/…/g, '.*'],
  [/ +/g, ' +'],
]

/** 'id  acc_01a1…' -> a pattern of the whole line, with any id and any number of spaces. */
export function patternOf(line: string): RegExp {
  const plain = line.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pattern = shapes.reduce((text, [written, polls]) => text.replace(written, polls), plain)
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

if (!python.has('openai')) python.sayLeftOut('Python examples of the documentation', 'openai')
const commands: Readonly<Record<string, (text: string) => string[]>> = {
  sh: (text) => ['sh', '-eu', '-c', text],
  ts: (text) => [join(root, 'scripts/bun'), '-e', text],
  ...(python.has('openai') && { python: (text: string) => [python.program, '-c', text] }),
}

/** Where examples are run, and as whom. */
export interface Stage {
  url: string
  token: string
  dataDir: string
  /** Where they are run; the repository unless it is said. */
  cwd?: string
  env?: Readonly<Record<string, string>>
  /** What pages write, and what that is here: other days, other names. */
  names?: ReadonlyMap<string, string>
  /** The last id of each kind that an example printed; examples about one are about that one. */
  lastIds: Map<string, string>
}

const limitMs = 60_000
const anyId = /\b([a-z]+)_[0-9a-f]{16,32}\b/g

/** All at once: what one name becomes may be another one's writing. */
export function renamed(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text
  const written = [...names.keys()].sort((one, other) => other.length - one.length)
  const literal = written.map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.replace(new RegExp(literal.join('|'), 'g'), (found) => names.get(found)!)
}

const none: ReadonlyMap<string, string> = new Map()

/** The text of an example as it must be here. */
const textHere = ({ url, names = none, lastIds }: Stage, text: string): string => {
  const ofHere = text.replace(anyId, (id, kind: string) =>
    names.has(id) ? id : (lastIds.get(kind) ?? id),
  )
  return renamed(ofHere, new Map([...names, ['http://localhost:8080', url]]))
}

/** What was printed here as a page writes it. */
const asWritten = ({ names = none }: Stage, text: string): string =>
  renamed(text, new Map([...names].map(([written, here]) => [here, written])))

const envOf = (stage: Stage): Record<string, string> => ({
  ...ownEnv,
  HOME: process.env['HOME'] ?? '',
  GATEWAY_URL: stage.url,
  GATEWAY_TOKEN: stage.token,
  GATEWAY_DATA_DIR: stage.dataDir,
  ...stage.env,
})

/** Its complaints are printed with the rest. */
const spawned = (stage: Stage, { language, text }: Fence) =>
  Bun.spawn(['sh', '-c', 'exec "$@" 2>&1', 'sh', ...commands[language]!(textHere(stage, text))], {
    cwd: stage.cwd ?? root,
    env: envOf(stage),
    stdout: 'pipe',
    timeout: limitMs,
  })

export async function runFence(
  stage: Stage,
  fence: Fence,
): Promise<{ code: number; printed: string }> {
  const child = spawned(stage, fence)
  const printed = await new Response(child.stdout).text()
  for (const [id, kind] of printed.matchAll(anyId)) stage.lastIds.set(kind!, id)
  return { code: await child.exited, printed: asWritten(stage, printed) }
}

/** The program itself, behind the shells and starters that wait for it. */
function innermost(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid='])
  const rows = String(stdout)
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/ +/).map(Number))
  const below = (parent: number): number => {
    const child = rows.find(([, of]) => of === parent)
    return child === undefined ? parent : below(child[0]!)
  }
  return below(pid)
}

export interface Started {
  printed: string
  /** Of its last line, `ready URL`. */
  url: string
  stop(): Promise<number>
}

/** An example that does not end by itself: it runs until it is stopped. */
export async function startFence(stage: Stage, fence: Fence): Promise<Started> {
  const child = spawned(stage, fence)
  let printed = ''
  const collect = async () => {
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) printed += decoder.decode(bytes, { stream: true })
    return 'ended'
  }
  const ended = collect()
  for (;;) {
    const [, url] = /^ready (\S+)$/m.exec(printed) ?? []
    const stop = () => {
      process.kill(innermost(child.pid), 'SIGTERM')
      return child.exited
    }
    if (url !== undefined) return { printed: asWritten(stage, printed), url, stop }
    if ((await Promise.race([ended, Bun.sleep(10)])) === 'ended') {
      throw new Error(`it ended (${await child.exited}):\n${printed}`)
    }
  }
}

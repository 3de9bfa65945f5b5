// Finds and ends the processes that belong to a folder: those whose environment, command line or working
// directory names it. Reads /proc; on a machine without it, only command lines are known.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface FoundProcess {
  pid: number
  command: string
}

const graceMs = 3_000
const pollMs = 100
const neighbourPollMs = 2_000

/** Empty for a process that ended meanwhile, is a zombie, or belongs to another user. */
function readOrNothing(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

interface LiveProcess extends FoundProcess {
  /** Everything known about it, as one text. */
  facts: string
}

function readProc(): LiveProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    const command = readOrNothing(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    const environment = readOrNothing(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))
    const cwd = readOrNothing(() => readlinkSync(`/proc/${pid}/cwd`))
    const facts = `${command}\n${environment}\n${cwd}`
    return [{ pid, command: command.replaceAll('\0', ' ').trim(), facts }]
  })
}

function readProcessList(): LiveProcess[] {
  const { stdout } = Bun.spawnSync(['ps', '-A', '-o', 'pid=,args='])
  return [...String(stdout).matchAll(/^ *(\d+) (.*)$/gm)].map(([, pid, command = '']) => ({
    pid: Number(pid),
    command,
    facts: command,
  }))
}

const liveProcesses = (): LiveProcess[] =>
  (existsSync('/proc/self/environ') ? readProc() : readProcessList()).filter(
    ({ pid }) => pid !== process.pid,
  )

export const processesOf = (folder: string): FoundProcess[] =>
  liveProcesses()
    .filter(({ facts }) => facts.includes(folder))
    .map(({ pid, command }) => ({ pid, command }))

const hasNeighbours = (folder: string): boolean =>
  liveProcesses().some(
    ({ command, facts }) => /^\S*\bbun(?!\S)/.test(command) && !facts.includes(folder),
  )

/** Tells whether programs of this repository have been running beside the run that works in `folder`. */
export function watchNeighbours(folder: string): () => boolean {
  let isShared = hasNeighbours(folder)
  const timer = setInterval(() => {
    isShared ||= hasNeighbours(folder)
    if (isShared) clearInterval(timer)
  }, neighbourPollMs)
  return () => {
    clearInterval(timer)
    return isShared || hasNeighbours(folder)
  }
}

/** Waits a moment for the processes of a folder to end, kills the others, and returns those it killed. */
export async function endProcessesOf(folder: string): Promise<FoundProcess[]> {
  const deadline = performance.now() + graceMs
  let found = processesOf(folder)
  while (found.length > 0 && performance.now() < deadline) {
    await Bun.sleep(pollMs)
    found = processesOf(folder)
  }
  for (const { pid } of found) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

/** Names of what this repository's programs and its browser put into a temp directory. */
const ownEntry = /^(gateway-(?!tests-)|simulation-|playwright|\.org\.chromium\.|model-gateway-test)/

export const ownEntriesIn = (directory: string): Set<string> =>
  new Set(readdirSync(directory).filter((name) => ownEntry.test(name)))

// Captures signals from the start of the process: those that arrive before the program can act are
// queued and delivered later, in order. Does not know what a signal means.
const watched = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type Signal = (typeof watched)[number]

/** The parent at the start; another one later means that the first has died. */
const firstParent = process.ppid
const parentCheckMs = 250

const kept: Signal[] = []
let handler: ((signal: Signal) => void) | undefined

function arrived(signal: Signal): void {
  if (handler !== undefined) handler(signal)
  else if (!kept.includes(signal)) kept.push(signal)
}

/** From here on no signal ends the process by itself. */
export function keepSignals(): void {
  for (const signal of watched) process.on(signal, () => arrived(signal))
}

/** Installs the handler, and delivers the queued signals first. */
export function handleSignals(next: (signal: Signal) => void): void {
  handler = next
  for (const signal of kept.splice(0)) next(signal)
}

/** No handler is installed yet, and the process is to end. */
export const stopIsKept = (): boolean => kept.some(isStop)

const isStop = (signal: Signal): boolean => signal !== 'SIGHUP'

/** The death of the parent counts as SIGTERM: npm and its shell do not always forward signals. */
export function stopWithParent(): void {
  const timer = setInterval(() => {
    if (process.ppid === firstParent) return
    clearInterval(timer)
    arrived('SIGTERM')
  }, parentCheckMs)
  timer.unref()
}

// Structured logs: one JSON object per line on stderr, a readable line on a terminal.
// Callers pass named fields; bodies and headers never come here.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  readonly level: LogLevel
  debug(msg: string, fields?: LogFields): void
  info(msg: string, fields?: LogFields): void
  warn(msg: string, fields?: LogFields): void
  error(msg: string, fields?: LogFields): void
}

interface Options {
  level: LogLevel
  pretty: boolean
  write: (line: string) => void
  /** Applied to every line before it is written. */
  clean?: (text: string) => string
}

export function createLog({ level, pretty, write, clean = (text) => text }: Options): Log {
  const least = logLevels.indexOf(level)
  const emit =
    (at: LogLevel) =>
    (msg: string, fields: LogFields = {}) => {
      if (logLevels.indexOf(at) < least) return
      const time = new Date().toISOString()
      write(clean(pretty ? prettyLine(time, at, msg, fields) : jsonLine(time, at, msg, fields)))
    }
  return {
    level,
    debug: emit('debug'),
    info: emit('info'),
    warn: emit('warn'),
    error: emit('error'),
  }
}

/** Errors keep their message and stack; bigints become text. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? value.message
  return typeof value === 'bigint' ? value.toString() : value
}

function jsonLine(time: string, level: LogLevel, msg: string, fields: LogFields): string {
  return `${JSON.stringify({ time, level, msg, ...fields }, (_, value) => plain(value))}\n`
}

function prettyLine(time: string, level: LogLevel, msg: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(plain(value))}`)
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${[msg, ...rest].join('  ')}\n`
}

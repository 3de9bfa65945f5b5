// Structured logs: one JSON object per line on stderr, a readable line on a terminal. Field names
// come from one list, others are dropped; bodies and headers never come here.

const logLevels = ['debug', 'info', 'warn', 'error'] as const
type LogLevel = (typeof logLevels)[number]

/** All fields of a line besides its time, level and message. */
export const logFields = [
  'request_id',
  'trace_id',
  'upstream_request_id',
  'task_id',
  'callback_id',
  'account_id',
  'token_id',
  'interface',
  'model',
  'channel',
  'path',
  'status',
  'code',
  'took_ms',
  'first_byte_ms',
  'cost',
  'error',
  'cause',
  'reason',
  'problem',
  'problems',
  'number',
  'part',
  'name',
  'said',
  'word',
  'upstream_ids',
  'skew_ms',
  'running',
  'file',
  'exit_code',
  'lived_ms',
  'whole_from',
] as const
type LogField = (typeof logFields)[number]
export type LogFields = Readonly<Partial<Record<LogField, unknown>>>

export interface Log {
  readonly level: LogLevel
  /** Number of lines written per level; absent where they are not counted. */
  readonly lines?: Readonly<Record<LogLevel, number>>
  /** The last warnings and errors as JSON, newest first; absent where they are not kept. */
  recent?(): readonly string[]
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

/** Number of warnings and errors kept for display. */
const maxRecent = 100

/** Maximum length of a field; a stack fits. */
const maxText = 8_000

export function createLog({ level, pretty, write, clean = (text) => text }: Options): Log {
  const minLevel = logLevels.indexOf(level)
  const lines = { debug: 0, info: 0, warn: 0, error: 0 }
  const recent: string[] = []
  const emit =
    (at: LogLevel) =>
    (msg: string, fields: LogFields = {}) => {
      if (logLevels.indexOf(at) < minLevel) return
      lines[at]++
      const time = new Date().toISOString()
      const listed = listedIn(fields)
      const line = clean((pretty ? prettyLine : jsonLine)(time, at, msg, listed))
      write(line)
      if (at !== 'warn' && at !== 'error') return
      recent.push(pretty ? clean(jsonLine(time, at, msg, listed)) : line)
      if (recent.length > maxRecent) recent.shift()
    }
  return {
    level,
    lines,
    recent: () => recent.toReversed(),
    debug: emit('debug'),
    info: emit('info'),
    warn: emit('warn'),
    error: emit('error'),
  }
}

type Plain = string | number | boolean | null

/** In the given order. */
function listedIn(fields: LogFields): [name: string, value: Plain][] {
  return Object.entries(fields).flatMap(([name, value]): [string, Plain][] =>
    value === undefined || !listed.has(name) ? [] : [[name, plain(value)]],
  )
}

const listed: ReadonlySet<string> = new Set(logFields)

/** Errors keep their message and stack; other objects are not expanded. */
function plain(value: unknown): Plain {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  const text = value instanceof Error ? (value.stack ?? value.message) : String(value)
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

function jsonLine(time: string, level: LogLevel, msg: string, fields: [string, Plain][]): string {
  return `${JSON.stringify({ time, level, msg, ...Object.fromEntries(fields) })}\n`
}

function prettyLine(time: string, level: LogLevel, msg: string, fields: [string, Plain][]): string {
  const rest = fields.map(([name, value]) => `${name}=${String(value)}`)
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${[msg, ...rest].join('  ')}\n`
}

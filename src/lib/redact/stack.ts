// Removes stack traces from a text, also those on one line, and leaves the sentence they belong to.
// Knows the frame formats of a few languages; knows no secrets.

/** A real line break, or an escaped one in a trace that was JSON-encoded once too often. */
const flattenedFrame =
  /\\n(?:\\[rnt]|[ \t]){0,16}(?:at |File \\?"|Traceback |goroutine \d|Caused by: |stack backtrace:|\d{1,4}: |#\d{1,3} |[^\s\\]{1,200}\.go:\d)/

const frameLines: readonly RegExp[] = [
  // JS and Rust: a location at the end. Java and .NET: a dotted name and an argument list.
  /^at (?:async |new )?\S.{0,500}:(?:line )?\d{1,7}\)?$/,
  /^at (?:[\w$<>`+[\],/@-]{1,200}\.)+[\w$<>`[\],]{1,200}\([^()]{0,300}\)(?: \[\S{1,200}\])?$/,
  /^at (?:async )?[\w$.<> ]{1,200}\((?:<anonymous>|native|index \d+)\)$/,
  // A runtime or file frame without a line number.
  /^at (?:async |new )?[\w$.<>/]{1,200}(?: \[as \w{1,80}\])? ?\((?:[a-z]{2,12}:|internal\/|\/)[^()\s]{0,300}\)$/,
  /^Traceback \(most recent call last\):$/,
  /^File "[^"]{1,500}", line \d+.{0,300}$/,
  /^[\^~]+$/,
  /^During handling of the above exception, another exception occurred:$/,
  /^The above exception was the direct cause of the following exception:$/,
  /^goroutine \d+ \[[^\]]{1,60}\]:?$/,
  /^created by \S.{0,300}$/,
  /^\S{1,400}\.go:\d+(?: \+0x[0-9a-f]+)?$/,
  /^\[signal SIG.{0,200}\]$/,
  /^(?:Caused by|Suppressed): .{0,1000}$/,
  /^\.\.\. \d+ (?:more|common frames omitted)$/,
  /^-{3} End of .{0,40}stack trace.{0,60}-{3}$/,
  /^stack backtrace:$/,
  /^\d{1,4}: +(?:0x[0-9a-f]+ - )?(?:[\w<>{}$&*, ]{1,200}::)+\S{1,200}$/,
  /^\d{1,4}: +(?:rust_begin_unwind|__libc_start_\w+|_start|main)$/,
  /^note: (?:run with|Some details are omitted).{0,200}$/,
  /^#\d{1,3} +\S.{0,500}$/,
  /^from \S{1,400}:\d+:in .{0,200}$/,
]

const inlineFrames: readonly RegExp[] = [
  /\bat (?:async |new )?[\w$.<>/]{1,200}(?: \[as \w{1,80}\])? ?\((?:(?:node|bun|deno|ext|file|webpack):|internal\/)[^()\s]{0,300}\)/g,
  /\bat (?:async |new )?[\w$.<>/]{1,200}(?: \[as \w{1,80}\])? ?\([^()\s]{1,300}:\d{1,7}(?::\d{1,7})?\)/g,
  /\bat (?:async )?(?:file:|node:|webpack:|\/|[A-Za-z]:\\)[^\s()]{1,300}:\d{1,7}:\d{1,7}/g,
  /\bat [\w$.<>]{1,200}\((?:Native Method|Unknown Source|<anonymous>)\)/g,
  /\bat [\w$.<>`+]{1,200}\([^()]{0,200}\) in \S{1,300}:line \d{1,7}/g,
  /\bTraceback \(most recent call last\):/g,
  /\bFile \\?"[^"\\]{1,300}\\?", line \d{1,7}(?:, in [\w<>.]{1,100})?/g,
  /\bgoroutine \d{1,9} \[[^\]]{1,60}\]:/g,
  /(?<![\w/.*()-])[\w/.*()-]{1,200}\.go:\d{1,7} \+0x[0-9a-f]{1,16}/g,
]

/** Longer lines are not stack frames. */
const maxFrame = 2_000

export function withoutStack(text: string): string {
  let out = text
  const flat = flattenedFrame.exec(out)
  if (flat !== null) {
    const tail = out.slice(flat.index).replace(/\\r?\\n|\\n/g, '\n')
    out = out.slice(0, flat.index) + tail.replaceAll('\\t', '\t')
  }
  if (/[\n\r]/.test(out)) out = withoutFrameLines(out.split(/\r\n|[\n\r]/)).join('\n')
  for (const frame of inlineFrames) out = out.replace(frame, ' ')
  return out
}

function withoutFrameLines(lines: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const trimmed = line.trim()
    if (isFrame(trimmed)) {
      // The source line after its location is indented further.
      const isPython = trimmed.startsWith('File "')
      if (isPython && indentOf(lines[i + 1]) > indentOf(line)) i++
      continue
    }
    if (/^\S.{0,400}\)$/.test(trimmed) && /^\s*\S{1,400}\.go:\d/.test(lines[i + 1] ?? '')) continue
    kept.push(line)
  }
  return kept
}

function isFrame(line: string): boolean {
  return line.length <= maxFrame && frameLines.some((frame) => frame.test(line))
}

function indentOf(line: string | undefined): number {
  return line === undefined ? 0 : line.length - line.trimStart().length
}

// Why an answer ended, in one vocabulary for all text styles: `stop`, `length`, `tool_calls` and
// `content_filter`. An upstream's word that is none of the known ones is kept, cut to what is safe to show.

/** Words of all styles: upstreams mix the spellings. */
const known: ReadonlyMap<string, string> = new Map([
  ...['stop', 'end_turn', 'stop_sequence', 'STOP', 'completed', 'eos'].map(to('stop')),
  ...['length', 'max_tokens', 'max_output_tokens', 'MAX_TOKENS'].map(to('length')),
  ...['model_context_window_exceeded'].map(to('length')),
  ...['tool_calls', 'function_call', 'tool_use'].map(to('tool_calls')),
  ...['content_filter', 'refusal', 'SAFETY', 'RECITATION', 'BLOCKLIST'].map(to('content_filter')),
  ...['PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(to('content_filter')),
  ...['IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'].map(to('content_filter')),
])

function to(word: string) {
  return (from: string): [string, string] => [from, word]
}

/** Of another word, up to the first character that is not of a word. */
const safe = /^[\w.:-]{1,40}/

/** Undefined: the upstream has not told. */
export function finishReasonFrom(value: unknown): string | undefined {
  return typeof value === 'string' ? (known.get(value) ?? safe.exec(value)?.[0]) : undefined
}

// Extracts the request id that an upstream writes into its error texts. The caller decides what to
// do with the id.

const gatewayId = /^req_[0-9a-f]{32}$/

/** Optional bracket, the name, what separates them, the id, the closing bracket. */
const named =
  /([([{]?)\\?["']?(?:\b(?:(?:upstream|x)[-_])?(?:request|trace|log|req)[-_ ]?id\b|请求 ?id)\\?["']?(?:\s{0,3}(?:=|:|is\b|：)\s{0,3}|\s)\\?["']?([A-Za-z0-9_.:-]{6,129})\\?["']?([)\]}]?)/gi

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** The first id that is not one of the gateway's own, and the text without it. */
export function takeRequestId(text: string): { text: string; requestId?: string } {
  for (const match of text.matchAll(named)) {
    const [whole, open = '', value = '', close = ''] = match
    const requestId = value.replace(/[.:-]+$/, '')
    if (!isId(requestId)) continue
    const isBracketed = open !== '' && closing[open] === close
    const start = match.index + (isBracketed ? 0 : open.length)
    const unclaimed = isBracketed ? 0 : close.length
    const end = match.index + whole.length - unclaimed
    const stop = value.endsWith('.') && !isBracketed ? '.' : ''
    return { text: joined(text.slice(0, start), stop + text.slice(end)), requestId }
  }
  return { text }
}

/** `request id missing` names no id: every upstream id contains a digit. */
function isId(value: string): boolean {
  return value.length >= 6 && value.length <= 128 && /\d/.test(value) && !gatewayId.test(value)
}

/** Joins the text before and after the id into one sentence. */
function joined(before: string, after: string): string {
  const head = before.replace(/[\s,;:|，；：\-–—]{1,16}$/, '')
  const tail = after.replace(/^[\s,;|，；]{1,16}/, '')
  if (head === '') return tail.replace(/^[.:\s-]{1,16}/, '')
  if (tail === '') return head
  if (/^[.!?]/.test(tail)) return /[.!?]$/.test(head) ? head + tail.slice(1) : head + tail
  if (/^[)\]}"']/.test(tail)) return head + tail
  // Between two fields of a record the comma stays.
  const isField = /[,;]\s*$/.test(before) && /^\s*[,;]/.test(after)
  return `${head}${isField ? ', ' : ' '}${tail}`
}

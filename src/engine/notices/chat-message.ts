// A notice as a message of a chat tool's incoming webhook: its body, its signature where the tool has one, and
// what its answer says. Knows no subscription and sends nothing.
import { createHmac } from 'node:crypto'
import type { NoticeFormat } from '../../contract/notices/webhooks.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Notice } from '../../store/deliveries/notices.ts'
import { shortText } from './notice-text.ts'

type ChatTool = Exclude<NoticeFormat, 'json'>

interface Receiver {
  url: string
  /** The tool's own. */
  secret: string | undefined
  atMs: number
}

interface ChatMessage {
  url: string
  body: string
  problemIn(text: string): string | undefined
}

export function chatMessage(tool: ChatTool, notice: Notice, to: Receiver): ChatMessage {
  const { url = to.url, ...body } = messages[tool](shortened(shortText(notice)), to)
  return { url, body: JSON.stringify(body), problemIn: tool === 'slack' ? noProblem : problemIn }
}

type Message = { url?: string } & Record<string, unknown>

const messages: Readonly<Record<ChatTool, (text: string, to: Receiver) => Message>> = {
  slack: (text) => ({ text: withoutMarkup(text, '&lt;', '&gt;') }),
  feishu: (text, { secret, atMs }) => ({
    ...(secret !== undefined && feishuSignature(secret, Math.floor(atMs / 1_000))),
    msg_type: 'text',
    content: { text: withoutMarkup(text, '‹', '›') },
  }),
  dingtalk: (text, { url, secret, atMs }) => ({
    ...(secret !== undefined && { url: dingtalkAddress(url, secret, atMs) }),
    msgtype: 'text',
    text: { content: text },
  }),
  wecom: (text) => ({ msgtype: 'text', text: { content: text } }),
}

/** A name must not become a mention of the whole room. */
const withoutMarkup = (text: string, open: string, close: string): string =>
  (open.startsWith('&') ? text.replaceAll('&', '&amp;') : text)
    .replaceAll('<', open)
    .replaceAll('>', close)

/** Here the secret is part of the key, and nothing is signed with it. */
const feishuSignature = (secret: string, seconds: number) => ({
  timestamp: String(seconds),
  sign: createHmac('sha256', `${seconds}\n${secret}`).update('').digest('base64'),
})

function dingtalkAddress(url: string, secret: string, atMs: number): string {
  const address = new URL(url)
  address.searchParams.set('timestamp', String(atMs))
  const sign = createHmac('sha256', secret).update(`${atMs}\n${secret}`).digest('base64')
  address.searchParams.set('sign', sign)
  return address.href
}

/** Of the smallest of these tools. */
const maxBytes = 2_000

function shortened(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  let kept = text.slice(0, maxBytes)
  while (Buffer.byteLength(kept) > maxBytes - '…'.length * 3) kept = kept.slice(0, -1)
  return `${kept.replace(/[\ud800-\udbff]$/, '')}…`
}

const noProblem = (): undefined => undefined
const maxProblem = 200

/** These answer 200 whatever has happened, with a code in the body. */
function problemIn(text: string): string | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return 'the answer is not that of a chat tool'
  }
  const fields = isObject(answer) ? answer : {}
  const code = fields['errcode'] ?? fields['code'] ?? fields['StatusCode']
  if (code === 0) return undefined
  const said = String(fields['errmsg'] ?? fields['msg'] ?? '').replaceAll(/\p{Cc}+/gu, ' ')
  return `refused with code ${String(code)}: ${said}`.slice(0, maxProblem)
}

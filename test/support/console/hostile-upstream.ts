// An upstream that means harm: its errors, ids, usage and results are the texts of the corpus. A
// number in the prompt says which. Files it hands over are pages and drawings that run scripts.

import { type Captured, completion, jsonReply, startUpstream } from '../upstream.ts'
import { hostileTexts, inAscii } from './hostile-texts.ts'

const numberIn = (text: string): number => Number(/case (\d+)/.exec(text)?.[1] ?? 0)
const textAt = (number: number): string => hostileTexts[number % hostileTexts.length]!

const page = '<!doctype html><script>hit(9001)</script><h1>a page</h1>'
const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="hit(9002)"><script>hit(9003)</script></svg>'

/** By its name: what comes, and as what. */
const files: Readonly<Record<string, readonly [body: string, type: string]>> = {
  'page.html': [page, 'text/html; charset=utf-8'],
  'page.mp4': [page, 'text/html'],
  'page.png': [page, 'image/png'],
  'page.xhtml': [page, 'application/xhtml+xml'],
  'drawing.svg': [drawing, 'image/svg+xml'],
  'drawing.png': [drawing, 'image/svg+xml'],
}

export const hostileFiles = Object.keys(files)

export interface HostileUpstream {
  url: string
  stop(): Promise<void>
}

export function startHostileUpstream(): HostileUpstream {
  /** What each task was asked for, by its id here. */
  const tasks = new Map<string, string>()
  const upstream = startUpstream((call) => {
    const { path } = call
    if (path.startsWith('/files/')) return fileAt(path.slice('/files/'.length))
    if (path.startsWith('/told/')) return new Response(null, { status: 500 })
    if (path.endsWith('/chat/completions')) return answerChat(call)
    if (path.endsWith('/images/generations')) return draw(call, upstream.url)
    if (path.endsWith('/video-synthesis')) return create(call, tasks)
    const id = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
    return report(id, tasks.get(id) ?? '', upstream.url)
  })
  return { url: upstream.url, stop: upstream.stop }
}

function fileAt(name: string): Response {
  const [body, type] = files[name] ?? ['', 'text/plain']
  return new Response(body, { status: body === '' ? 404 : 200, headers: { 'content-type': type } })
}

/** `say` in the prompt is a good answer that says it, counted in words of its own. */
function answerChat({ body }: Captured): Response {
  const number = numberIn(body)
  const text = textAt(number)
  const headers = { 'x-request-id': inAscii(text) }
  if (!body.includes('say')) {
    const error = { message: text, type: inAscii(text), code: inAscii(text) }
    return jsonReply({ error }, { status: 400, headers })
  }
  const usage = { prompt_tokens: 3, completion_tokens: 4, [text]: text, prompt_tokens_details: {} }
  const answer = completion(usage)
  answer.choices[0]!.message.content = text
  return jsonReply(answer, { headers })
}

const fileIn = (text: string): string | undefined => /file ([\w.]+)/.exec(text)?.[1]

/** What is drawn is a file of that name, or bytes that say they are one of these. */
function draw({ body }: Captured, url: string): Response {
  const file = fileIn(body)
  const bytes = `data:text/html;base64,${btoa(page)}`
  return jsonReply({ created: 1, data: [{ url: file ? `${url}/files/${file}` : bytes }] })
}

/** A task's id is a text of the corpus, too. */
function create({ body }: Captured, tasks: Map<string, string>): Response {
  const id = `${tasks.size}${inAscii(textAt(numberIn(body)))}`
  tasks.set(id, body)
  return jsonReply({ output: { task_id: id, task_status: 'PENDING' }, request_id: id })
}

/** `file NAME` in the prompt: it succeeds with that file; `by-link`: with the text for an address. */
function report(id: string, asked: string, url: string): Response {
  const text = textAt(numberIn(asked))
  const file = fileIn(asked)
  const link = file === undefined ? text : `${url}/files/${file}`
  const output = { task_id: id, task_status: 'SUCCEEDED', video_url: link }
  const usage = { output_video_duration: 5, [text]: text }
  if (file !== undefined || asked.includes('by-link')) {
    return jsonReply({ output, usage, request_id: inAscii(text) })
  }
  const failed = { task_id: id, task_status: 'FAILED', code: inAscii(text), message: text }
  return jsonReply({ output: failed, request_id: inAscii(text) })
}

// gateway call video: one video from prompt to file with a caller's token, to see that it works.
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openProgress } from '../admin/tasks.ts'
import { answerOf, reach } from '../terminal/admin-client.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { segment } from '../terminal/list.ts'
import { cell, type Row, rowOf } from '../terminal/show.ts'
import { exitCodes, misuse, Stop } from '../terminal/stop.ts'

const callTimeoutMs = 120_000
const downloadTimeoutMs = 1_800_000
const pollEveryMs = 1_000
/** Two hours of waiting. */
const maxPolls = 7_200
const endStatuses = ['completed', 'failed', 'cancelled']

async function callVideo(context: Context): Promise<Outcome> {
  const { line, env } = context
  const token = line.text('token') ?? env['GATEWAY_TOKEN']
  if (!token) throw misuse('call video needs --token or GATEWAY_TOKEN')
  const out = line.text('out')
  // Before anything is made that costs money.
  if (out !== undefined) await checkPlace(out)
  const created = await ask(context, token, '/v1/videos', {
    model: line.text('model'),
    prompt: line.arg(0),
    seconds: line.count('seconds'),
    resolution: line.text('resolution'),
  })
  const id = String(created['id'])
  try {
    return await finish(context, token, created, out ?? `./${fileName(id)}`)
  } catch (error) {
    // It is paid for, so it must be possible to find it.
    if (!(error instanceof Stop) || error.message.includes(id)) throw error
    throw new Stop(error.exitCode, `${error.message} (video ${cell(id)})`)
  }
}

async function finish(
  context: Context,
  token: string,
  created: Row,
  file: string,
): Promise<Outcome> {
  const id = String(created['id'])
  if (!context.json) context.write(`${cell(id)}\n`)
  const video = await waitForEnd(context, token, created)
  const status = cell(video['status'])
  if (status !== 'completed') {
    const error = rowOf(video['error'])
    const reason = cell(error['message'] ?? error['code'])
    return { answer: video, text: `${cell(id)}  ${status}: ${reason}`, ok: false }
  }
  const sizeBytes = await save(context, token, id, file)
  return { answer: video, text: `${cell(id)}  ${status}  ${sizeBytes} bytes in ${cell(file)}` }
}

async function checkPlace(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => undefined)
  if (folder?.isDirectory() !== true) throw misuse(`there is no folder '${dirname(file)}'`)
  const there = await stat(file).catch(() => undefined)
  if (there?.isDirectory() === true) throw misuse(`--out takes a file, and '${file}' is a folder`)
}

/** The id comes from the other side, so it may not choose a place. */
function fileName(id: string): string {
  if (!/^\w[\w-]{0,127}$/.test(id)) {
    throw new Stop(exitCodes.refused, 'the id makes no file name; give --out')
  }
  return `${id}.mp4`
}

async function ask({ url }: Context, token: string, path: string, body?: object): Promise<Row> {
  const response = await reach(url, path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callTimeoutMs),
  })
  return rowOf(await answerOf(response, url))
}

async function waitForEnd(context: Context, token: string, created: Row): Promise<Row> {
  const path = `/v1/videos/${segment(String(created['id']))}`
  const progress = openProgress(context)
  const fromMs = performance.now()
  let video = created
  try {
    for (let polls = 0; polls < maxPolls; polls++) {
      const state = String(video['status'])
      progress.show({ state, progress: video['progress'], elapsedMs: performance.now() - fromMs })
      if (endStatuses.includes(state)) return video
      await Bun.sleep(pollEveryMs)
      video = await ask(context, token, path)
    }
  } finally {
    progress.end()
  }
  throw new Stop(exitCodes.refused, 'the video is not ready after two hours; try task watch')
}

/** Under another name until it is whole: half a video must not look like one. */
async function save({ url }: Context, token: string, id: string, file: string): Promise<number> {
  const response = await reach(url, `/v1/videos/${segment(id)}/content`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(downloadTimeoutMs),
  })
  if (response.status !== 200) {
    await answerOf(response, url)
    throw new Stop(exitCodes.refused, `the file was answered with status ${response.status}`)
  }
  const part = `${file}.part`
  const target = await open(part, 'w').catch((error: NodeJS.ErrnoException) => {
    throw new Stop(exitCodes.refused, `cannot write ${part} (${error.code})`)
  })
  try {
    const sizeBytes = await pour(response, target)
    await rename(part, file)
    return sizeBytes
  } catch (error) {
    await rm(part, { force: true })
    const { code, name } = error as { code?: string; name: string }
    throw new Stop(exitCodes.refused, `the download broke off (${code ?? name})`)
  }
}

async function pour(response: Response, target: FileHandle): Promise<number> {
  let sizeBytes = 0
  try {
    for await (const bytes of response.body ?? []) {
      await target.writeFile(bytes)
      sizeBytes += bytes.byteLength
    }
  } finally {
    await target.close()
  }
  return sizeBytes
}

export const callVideoCommand: Command = {
  path: ['call', 'video'],
  args: ['PROMPT'],
  summary: 'have a video made, wait for it and save it',
  flags: {
    model: { value: 'MODEL', required: true, summary: 'which model' },
    seconds: { value: 'N', summary: 'how long the video is' },
    resolution: { value: 'SIZE', summary: 'such as 720p or 1080p' },
    out: { value: 'FILE', summary: 'where to put it (ID.mp4 in this folder)' },
    token: { value: 'TOKEN', summary: "a caller's token (or GATEWAY_TOKEN)" },
  },
  run: callVideo,
}

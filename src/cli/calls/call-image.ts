// gateway call image: images from a prompt, and images to start from, to files.
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { answerOf, reach, requestId } from '../terminal/admin-client.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { cell, rowOf, rowsOf } from '../terminal/show.ts'
import { exitCodes, misuse, Stop } from '../terminal/stop.ts'

const callTimeoutMs = 300_000

async function callImage(context: Context): Promise<Outcome> {
  const { line, env, url } = context
  const token = line.text('token') ?? env['GATEWAY_TOKEN']
  if (!token) throw misuse('call image needs --token or GATEWAY_TOKEN')
  const out = line.text('out') ?? 'image.png'
  const folder = await stat(dirname(out)).catch(() => undefined)
  if (folder?.isDirectory() !== true) throw misuse(`there is no folder '${dirname(out)}'`)
  const inputs = (line.text('from') ?? '').split(',').filter((each) => each !== '')
  const body = {
    model: line.text('model'),
    prompt: line.arg(0),
    n: line.count('count'),
    size: line.text('size'),
    response_format: 'b64_json',
    ...(inputs.length > 0 && {
      images: await Promise.all(inputs.map(async (each) => ({ image_url: await inputOf(each) }))),
    }),
  }
  const response = await reach(url, `/v1/images/${inputs.length > 0 ? 'edits' : 'generations'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(callTimeoutMs),
  })
  const images = rowsOf(rowOf(await answerOf(response, url))['data'])
  const files: string[] = []
  for (const [index, image] of images.entries()) {
    const file = images.length === 1 ? out : numbered(out, index + 1)
    await save(file, String(image['b64_json'] ?? ''))
    files.push(file)
  }
  const note = `request ${cell(requestId(response))}`
  return { answer: { files }, text: files.map(cell).join('\n'), note }
}

const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

/** An address as it is; a file as the data it holds. */
async function inputOf(given: string): Promise<string> {
  if (/^https?:\/\//i.test(given)) return given
  const type = types[extname(given).toLowerCase()]
  if (type === undefined) throw misuse(`'${given}' is neither an address nor a png, jpeg or webp`)
  const bytes = await readFile(given).catch((error: NodeJS.ErrnoException) => {
    throw misuse(`cannot read ${given} (${error.code})`)
  })
  return `data:${type};base64,${bytes.toString('base64')}`
}

/** image.png, image-2.png */
function numbered(out: string, number: number): string {
  const end = extname(out)
  const stem = out.slice(0, out.length - end.length)
  return number === 1 ? out : join(`${stem}-${number}${end}`)
}

/** Under another name until it is whole. */
async function save(file: string, base64: string): Promise<void> {
  const part = `${file}.part`
  try {
    await writeFile(part, Buffer.from(base64, 'base64'))
    await rename(part, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Stop(exitCodes.refused, `cannot write ${file} (${code})`)
  }
}

export const callImageCommand: Command = {
  path: ['call', 'image'],
  args: ['PROMPT'],
  summary: 'generate images and save them',
  flags: {
    model: { value: 'MODEL', required: true, summary: 'which model' },
    count: { value: 'N', summary: 'how many images' },
    size: { value: 'WxH', summary: 'such as 1024x1024' },
    from: { value: 'FILES', summary: 'images to edit: files or addresses, separated by commas' },
    out: { value: 'FILE', summary: 'where to put them (image.png; then image-2.png, …)' },
    token: { value: 'TOKEN', summary: "a caller's token (or GATEWAY_TOKEN)" },
  },
  run: callImage,
}

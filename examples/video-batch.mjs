// A batch of videos with callbacks: creates all of them, verifies the signed notice of each end, and saves
// the videos.
//   GATEWAY_TOKEN=sk-... CALLBACK_SECRET=whsec_... node examples/video-batch.mjs [FOLDER]
// The secret is what `gateway callback secret` shows. The gateway must be able to reach this program:
// on one machine it needs GATEWAY_EGRESS_ALLOW=127.0.0.0/8, elsewhere a public https address.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { needed } from './settings.mjs'

const { url, token } = needed()
const secret = process.env.CALLBACK_SECRET
if (!secret?.startsWith('whsec_')) {
  console.error('set CALLBACK_SECRET to what `gateway callback secret` shows')
  process.exit(64)
}
const folder = process.argv[2] ?? '.'
const longestMs = 15 * 60_000
const mostBytes = 1_000_000
const prompts = ['a boat in the fog', 'a train in the snow', 'a kite over the sea']

/** By the id of the task; notices may come before the answer to the create does. */
const ended = new Map()
const seen = new Set()
let heard = () => {}

const receiver = createServer(async (request, answer) => {
  let body = ''
  for await (const part of request) {
    body += part
    if (body.length > mostBytes) return answer.writeHead(413).end()
  }
  if (!isGenuine(request.headers, body)) return answer.writeHead(401).end()
  // Respond at once and work later. The same notice can arrive twice.
  answer.writeHead(204).end()
  const id = request.headers['webhook-id']
  if (seen.has(id)) return
  seen.add(id)
  const task = JSON.parse(body)
  ended.set(task.id, task)
  heard()
})

function isGenuine(headers, body) {
  const {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': given = '',
  } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(seconds)) < 300)) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const made = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest()
  return given.split(' ').some((each) => {
    const signature = Buffer.from(each.replace(/^v1,/, ''), 'base64')
    return signature.length === made.length && timingSafeEqual(signature, made)
  })
}

/** With the same key it may be sent again: the gateway makes one video, and charges for one. */
async function order(prompt, callback_url) {
  const answer = await fetch(`${url}/arkvendor/api/v3/contents/generations/tasks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({
      model: 'vidmodel-1-0-pro',
      content: [{ type: 'text', text: prompt }],
      duration: 5,
      callback_url,
    }),
  })
  const task = await answer.json()
  if (!answer.ok) throw new Error(`${prompt}: ${task.error?.message}`)
  console.log(`ordered: ${task.id} ${prompt}`)
  return task.id
}

async function save(task) {
  if (task.status !== 'succeeded') return console.log(`failed: ${task.id} ${task.error?.message}`)
  const film = await fetch(task.content.video_url)
  if (!film.ok) throw new Error(`${task.id}: the film answers ${film.status}`)
  const path = join(folder, `${task.id}.mp4`)
  await writeFile(path, film.body)
  console.log(`saved: ${path}`)
}

await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const here = `http://127.0.0.1:${receiver.address().port}/ended`
const ids = await Promise.all(prompts.map((prompt) => order(prompt, here)))
await new Promise((resolve, reject) => {
  const timer = setTimeout(() => reject(new Error('not all of them ended in time')), longestMs)
  heard = () => {
    if (!ids.every((id) => ended.has(id))) return
    clearTimeout(timer)
    resolve()
  }
  heard()
})
receiver.close()
receiver.closeAllConnections()
for (const id of ids) await save(ended.get(id))

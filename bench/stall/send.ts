// Sends one body, or several copies at once, and returns the status of each. Its own process, so that its
// cost is not counted as the gateway's.

import { setPriority } from 'node:os'
import { serveCommands } from '../lib/commands.ts'
import { stallBodies } from './bodies.ts'

// Sender and upstream stand for other machines: they must not take a core from what is measured.
setPriority(19)

export interface SendCommand {
  url: string
  headers: Record<string, string>
  shape: string
  bytes: number
  copies: number
}

export interface Sent {
  statuses: number[]
}

async function send({ url, headers, shape, bytes, copies }: SendCommand): Promise<Sent> {
  const { path, type, body: text, isBroken } = stallBodies[shape]!(bytes)
  const body = Buffer.from(text)
  if (isBroken) body[body.length - 8] = 0xff
  const sendOne = async () => {
    try {
      const init = { method: 'POST', headers: { ...headers, 'content-type': type }, body }
      const answer = await fetch(url + path, init)
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return 0
    }
  }
  return { statuses: await Promise.all(Array.from({ length: copies }, sendOne)) }
}

await serveCommands(send)

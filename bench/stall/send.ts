// Sends one body, or several copies at once, and returns the status of each. Its own process, so that its
// cost is not counted as the gateway's.

import { setPriority } from 'node:os'
import { serveCommands } from '../lib/commands.ts'
import { type StallBody, stallBodies } from './bodies.ts'
import { hostileBodies } from './hostile.ts'

// Sender and upstream stand for other machines: they must not take a core from what is measured.
setPriority(19)

export interface SendCommand {
  url: string
  headers: Record<string, string>
  /** Absent: all hostile bodies, each caller one after the other. */
  shape?: string
  bytes: number
  copies: number
}

export interface Sent {
  statuses: number[]
}

const bodies: Readonly<Record<string, (bytes: number) => StallBody>> = {
  ...stallBodies,
  ...hostileBodies,
}

async function send(command: SendCommand): Promise<Sent> {
  const { shape, bytes, copies } = command
  const shapes = shape === undefined ? Object.keys(hostileBodies) : [shape]
  const made = shapes.map((each) => bodies[each]!(bytes))
  const sendAll = async (_: unknown, caller: number): Promise<number[]> => {
    const statuses: number[] = []
    for (let at = 0; at < made.length; at++) {
      // Callers begin with different ones.
      const next = made[(at + Math.floor((caller * made.length) / copies)) % made.length]!
      statuses.push(await sendOne(command, next))
    }
    return statuses
  }
  const sent = await Promise.all(Array.from({ length: copies }, sendAll))
  return { statuses: sent.flat() }
}

async function sendOne({ url, headers }: SendCommand, given: StallBody): Promise<number> {
  const { path, type, body: text, isBroken } = given
  const body = Buffer.from(text)
  if (isBroken) body[body.length - 8] = 0xff
  try {
    const init = { method: 'POST', headers: { ...headers, 'content-type': type }, body }
    const answer = await fetch(url + path, init)
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

await serveCommands(send)

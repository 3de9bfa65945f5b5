// Sends one body, or several copies at once, and tells the status of each. A process of its own: what
// it costs is not the gateway's.

import { createInterface } from 'node:readline'
import { stallBodies } from './bodies.ts'

export interface SendOrder {
  url: string
  headers: Record<string, string>
  shape: string
  bytes: number
  copies: number
}

export interface Sent {
  statuses: number[]
}

async function send({ url, headers, shape, bytes, copies }: SendOrder): Promise<Sent> {
  const { path, type, body } = stallBodies[shape]!(bytes)
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

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await send(JSON.parse(line) as SendOrder)))
}

// A resolver whose answers are written in the names it is asked for, so that whoever makes up a name
// says what it resolves to, and when it changes. It keeps one count for each name and forgets nothing.
import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import ipaddr from 'ipaddr.js'
import { privateNames } from './spellings.ts'

/**
 * `all`: every address at once. `turn`: the first time the first, the next time the next, and the last
 * for ever. `chain`: every address, behind four names.
 */
export type Manner = 'all' | 'turn' | 'chain'

const typeA = 1
const typeCname = 5
const typeAaaa = 28
const chainLength = 4
const headBytes = 12
let names = 0

/** A name nobody has asked for yet. */
export function newName(manner: Manner, addresses: readonly string[]): string {
  const numbers = addresses.map((address) =>
    Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex'),
  )
  return `${numbers.join('-')}.${manner}.n${names++}.ssrf.test`
}

const fixed = new Map(
  Object.entries(privateNames).map(([name, address]) => [
    domainToASCII(decodeURIComponent(name)).replace(/\.$/, ''),
    address,
  ]),
)

export interface Resolver {
  questions: number
  close(): void
}

export async function startResolver(): Promise<Resolver> {
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  const resolver = { questions: 0, close: () => socket.close() }
  socket.on('message', (question, from) => {
    resolver.questions++
    socket.send(answer(question, asked), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(53, '127.0.0.1', resolve))
  return resolver
}

function answer(question: Buffer, asked: Map<string, number>): Buffer {
  const labels: string[] = []
  let at = headBytes
  for (let size = question[at]!; size > 0; size = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + size))
    at += size + 1
  }
  const type = question.readUInt16BE(at + 1)
  const name = labels.join('.').toLowerCase()
  const addresses = addressesOf(name, type, asked)
  const records = recordsOf(name, type, addresses ?? [])
  const head = Buffer.from(question.subarray(0, headBytes))
  head.writeUInt16BE(addresses === undefined ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, question.subarray(headBytes, at + 5), ...records])
}

function addressesOf(
  name: string,
  type: number,
  asked: Map<string, number>,
): readonly string[] | undefined {
  const known = fixed.get(name)
  if (known !== undefined) return [known]
  const [numbers = '', manner, ...rest] = name.split('.')
  if (rest.slice(1).join('.') !== 'ssrf.test') return undefined
  const addresses = numbers
    .split('-')
    .map((number) => ipaddr.fromByteArray([...Buffer.from(number, 'hex')]).toString())
  if (manner !== 'turn') return addresses
  const key = `${name} ${type}`
  const turn = asked.get(key) ?? 0
  asked.set(key, turn + 1)
  return [addresses[Math.min(turn, addresses.length - 1)]!]
}

function recordsOf(name: string, type: number, addresses: readonly string[]): Buffer[] {
  const records: Buffer[] = []
  let owner = name
  if (name.split('.')[1] === 'chain') {
    for (let link = 0; link < chainLength; link++) {
      const next = `link${link}.${name}`
      records.push(record(owner, typeCname, nameBytes(next)))
      owner = next
    }
  }
  const family = type === typeA ? 4 : type === typeAaaa ? 6 : 0
  for (const address of addresses.filter((address) => isIP(address) === family)) {
    records.push(record(owner, type, Buffer.from(ipaddr.parse(address).toByteArray())))
  }
  return records
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${'\0'}${label}`, 'latin1'))
  for (const label of labels) label[0] = label.length - 1
  return Buffer.concat([...labels, Buffer.from([0])])
}

/** Nobody may remember it: the time to live is none. */
function record(owner: string, type: number, value: Buffer): Buffer {
  const fields = Buffer.alloc(10)
  fields.writeUInt16BE(type, 0)
  fields.writeUInt16BE(1, 2)
  fields.writeUInt16BE(value.length, 8)
  return Buffer.concat([nameBytes(owner), fields, value])
}

// Downloads from addresses that somebody else chose. A name is resolved once, every answer is
// judged, and the connection goes to the judged address, for each redirect anew. No credential is
// ever sent along. It does not know what is downloaded, nor for whom.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const maxUrlLength = 8192
const lookupTimeoutMs = 5_000
const defaultIdleTimeoutMs = 60_000
const defaultMaxBytes = 8 * 1024 ** 3
const openPorts = ['', '80', '443']
const redirectStatuses = [301, 302, 303, 307, 308]
const singleRange = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/
const shownHeaders = ['content-type', 'content-length', 'content-range', 'etag'] as const

/** Metadata services that live among public addresses, or that a range might one day forget. */
const metadataAddresses = ['168.63.129.16', '100.100.100.200']
/** What is handed out for the public part of IPv6; all else has a special meaning or none. */
const publicIPv6 = ipaddr.IPv6.parseCIDR('2000::/3')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16')

export interface AddressRules {
  /** Networks (CIDRs) and single addresses that may be asked although they are private, on any port, without TLS too. */
  allow: readonly string[]
  httpsOnly: boolean
}

/** Every address of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>

export type Guarded = { address: string; url: URL } | { problem: string }

const lookupAll: Lookup = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export async function guardAddress(
  text: string,
  rules: AddressRules,
  lookupName: Lookup = lookupAll,
): Promise<Guarded> {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null
  if (url === null) return { problem: 'the address is not a URL' }
  const { protocol, username, password, hostname } = url
  if (protocol !== 'https:' && protocol !== 'http:') {
    return { problem: 'the address is neither https nor http' }
  }
  if (username !== '' || password !== '') return { problem: 'the address holds credentials' }
  const literal = hostname.replace(/^\[|\]$/g, '')
  const answers = isIP(literal) === 0 ? await resolveName(hostname, lookupName) : [literal]
  if (answers.length === 0) return { problem: 'the name of the host cannot be resolved' }
  for (const answer of answers) {
    const problem = problemOf(answer, url, rules)
    if (problem !== undefined) return { problem }
  }
  return { address: answers[0]!, url }
}

async function resolveName(host: string, lookupName: Lookup): Promise<readonly string[]> {
  const late = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(() => late.resolve([]), lookupTimeoutMs)
  try {
    return await Promise.race([lookupName(host), late.promise])
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}

function problemOf(answer: string, url: URL, rules: AddressRules): string | undefined {
  // A zone names an interface of this machine.
  if (isIP(answer) === 0 || answer.includes('%')) return 'the address may not be asked'
  const address = unwrap(ipaddr.parse(answer))
  if (rules.allow.some((network) => isWithin(address, network))) return undefined
  if (!isPublic(address)) return 'the address may not be asked'
  if (!openPorts.includes(url.port)) return 'the port may not be asked'
  if (rules.httpsOnly && url.protocol !== 'https:') return 'the address is not https'
  return undefined
}

type Address = ReturnType<typeof ipaddr.parse>
const isV6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6'

/** The IPv4 address that an IPv6 one stands for, where it stands for one. */
function unwrap(address: Address): Address {
  if (!isV6(address)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  const bytes = address.toByteArray()
  if (address.match(nat64)) return ipaddr.fromByteArray(bytes.slice(12))
  if (address.match(sixToFour)) return ipaddr.fromByteArray(bytes.slice(2, 6))
  return address
}

function isPublic(address: Address): boolean {
  if (metadataAddresses.includes(address.toString())) return false
  return address.range() === 'unicast' && (!isV6(address) || address.match(publicIPv6))
}

const whole = (address: string) => `${address}/${isIP(address) === 6 ? 128 : 32}`

function isWithin(address: Address, network: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(network.includes('/') ? network : whole(network))
  return base.kind() === address.kind() && address.match(base, bits)
}

export interface DownloadOptions {
  rules: AddressRules
  /** `bytes=0-99`; anything but a single range is left out, and the whole is what comes. */
  range?: string | undefined
  maxRedirects: number
  /** For all hops together, until the head of the last answer is there. */
  headTimeoutMs: number
  /** Longest silence within the body. */
  idleTimeoutMs?: number
  maxBytes?: number
  signal?: AbortSignal
  lookup?: Lookup
  tls?: { ca: string }
}

export interface Download {
  status: number
  headers: Readonly<Partial<Record<(typeof shownHeaders)[number], string>>>
  /** Read no faster than it is asked for; fails if it breaks off, and must be read or cancelled. */
  body: ReadableStream<Uint8Array>
}

/** `forbidden`: the address or a redirect is at fault. `failed`: nothing usable came from it. */
export interface DownloadProblem {
  kind: 'forbidden' | 'timeout' | 'failed'
  problem: string
}

const forbidden = (problem: string): DownloadProblem => ({ kind: 'forbidden', problem })
const failed = (problem: string): DownloadProblem => ({ kind: 'failed', problem })

export async function openDownload(
  text: string,
  options: DownloadOptions,
): Promise<Download | DownloadProblem> {
  const stop = new AbortController()
  const onAbort = () => stop.abort()
  options.signal?.addEventListener('abort', onAbort, { once: true })
  if (options.signal?.aborted) stop.abort()
  let late = false
  const timer = setTimeout(() => {
    late = true
    stop.abort()
  }, options.headTimeoutMs)
  const release = () => options.signal?.removeEventListener('abort', onAbort)
  try {
    const answer = await followRedirects(text, options, stop.signal)
    const opened = answer instanceof Response ? download(answer, options, stop, release) : answer
    if ('kind' in opened) release()
    return opened
  } catch {
    release()
    if (late) return { kind: 'timeout', problem: 'the address did not answer in time' }
    return failed(stop.signal.aborted ? 'the download was stopped' : 'the address did not answer')
  } finally {
    clearTimeout(timer)
  }
}

async function followRedirects(
  text: string,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Response | DownloadProblem> {
  let next = text
  for (let hops = 0; hops <= options.maxRedirects; hops++) {
    const guarded = await guardAddress(next, options.rules, options.lookup)
    if ('problem' in guarded) return forbidden(guarded.problem)
    signal.throwIfAborted()
    const answer = await ask(guarded.address, guarded.url, options, signal)
    if (!redirectStatuses.includes(answer.status)) return answer
    await answer.body?.cancel()
    const location = answer.headers.get('location')
    const to = location === null ? null : URL.parse(location, guarded.url.href)
    if (to === null) return failed('the address redirects to nowhere')
    if (guarded.url.protocol === 'https:' && to.protocol !== 'https:') {
      return forbidden('the address redirects from https to something else')
    }
    next = to.href
  }
  return forbidden('the address redirects too often')
}

/** To the judged address by number, under the name that was asked for. */
function ask(
  address: string,
  url: URL,
  { range, tls }: DownloadOptions,
  signal: AbortSignal,
): Promise<Response> {
  const target = new URL(url)
  target.hostname = isIP(address) === 6 ? `[${address}]` : address
  target.hash = ''
  const name = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const headers: Record<string, string> = {
    host: url.host,
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
  if (range !== undefined && singleRange.test(range)) headers['range'] = range
  return fetch(target, {
    headers,
    redirect: 'manual',
    signal,
    decompress: false,
    // A kept connection would be found again by its address, whatever name it was opened for.
    keepalive: false,
    // Said aloud, as an environment variable can turn it off.
    tls: { ...tls, rejectUnauthorized: true, ...(isIP(name) === 0 && { servername: name }) },
  })
}

function download(
  answer: Response,
  { idleTimeoutMs = defaultIdleTimeoutMs, maxBytes = defaultMaxBytes }: DownloadOptions,
  stop: AbortController,
  release: () => void,
): Download | DownloadProblem {
  const encoding = answer.headers.get('content-encoding') ?? 'identity'
  const isTooLarge = Number(answer.headers.get('content-length') ?? 0) > maxBytes
  if (encoding !== 'identity' || isTooLarge) {
    stop.abort()
    return failed(isTooLarge ? 'the file is too large' : 'the file came compressed')
  }
  const headers: Download['headers'] = Object.fromEntries(
    shownHeaders.flatMap((name) => {
      const value = answer.headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  const body = paced(answer, { idleTimeoutMs, maxBytes }, stop, release)
  return { status: answer.status, headers, body }
}

function paced(
  answer: Response,
  limits: { idleTimeoutMs: number; maxBytes: number },
  stop: AbortController,
  release: () => void,
): ReadableStream<Uint8Array> {
  const reader = answer.body?.getReader()
  let sizeBytes = 0
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const timer = setTimeout(() => stop.abort(), limits.idleTimeoutMs)
      try {
        const piece = await reader?.read()
        if (piece?.value === undefined) {
          release()
          return controller.close()
        }
        sizeBytes += piece.value.byteLength
        if (sizeBytes > limits.maxBytes) throw new Error('the file is too large')
        controller.enqueue(piece.value)
      } catch (error) {
        release()
        stop.abort()
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    cancel() {
      release()
      stop.abort()
    },
  }
  // No piece is fetched before somebody wants it.
  return new ReadableStream(source, { highWaterMark: 0 })
}

// The connection from one simulated gateway to the upstream. A request that was sent arrives or does not, even
// if the gateway dies; its reply arrives, arrives late, breaks off or never arrives.
import type { HttpAnswer, HttpPort } from '../../src/contract/http.ts'
import { HttpError } from '../../src/lib/http/error.ts'
import { readable } from '../../src/lib/http/pipe-by-read.ts'
import type { UpstreamWire, WireReply, WireRequest } from '../upstream/messages.ts'
import { answer } from '../upstream/wire.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'

const slowestMs = 45_000
const badGateway: WireReply = { status: 502, body: '<html>bad gateway</html>' }

interface CallState {
  isGivenUp: boolean
}

export class SimHttp implements HttpPort {
  readonly #upstreamWire: UpstreamWire
  readonly #context: SimContext
  readonly #proc: Proc

  constructor(upstreamWire: UpstreamWire, proc: Proc) {
    this.#upstreamWire = upstreamWire
    this.#context = upstreamWire.context
    this.#proc = proc
  }

  get #from() {
    return { from: this.#proc.name }
  }

  post: HttpPort['post'] = (url, _headers, body) =>
    this.#call({ method: 'POST', url: new URL(url), body: parsed(body), ...this.#from })

  get: HttpPort['get'] = (url) =>
    this.#call({ method: 'GET', url: new URL(url), body: {}, ...this.#from })

  delete: HttpPort['delete'] = (url) =>
    this.#call({ method: 'DELETE', url: new URL(url), body: {}, ...this.#from })

  #call(request: WireRequest): ReturnType<HttpPort['get']> {
    const { world, random, faults } = this.#context
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
    // A cancelled call does not wait.
    promise.catch(() => {})
    const state: CallState = { isGivenUp: false }
    const cancel = () => {
      state.isGivenUp = true
      reject(new HttpError('cancelled', 'given up'))
    }
    const call = { answer: promise, cancel }
    if (!this.#proc.alive) return call
    const where = `${request.method} ${request.url.host}${request.url.pathname}`
    const kind = `${request.method} ${request.url.host}`
    if (random.process.chance(faults.process.crash)) {
      this.#context.kill(this.#proc, `before ${kind}`)
      return call
    }
    if (random.wire.chance(faults.wire.unreachable)) {
      world.note(`${where} does not arrive`, this.#proc)
      world.after(this.#wayMs(), this.#proc, () =>
        reject(new HttpError('unreachable', 'no connection')),
      )
      return call
    }
    world.after(this.#wayMs(), undefined, () => {
      const reply = answer(this.#upstreamWire, request)
      world.note(`${where} -> ${reply.status} ${reply.body.slice(0, 90)}`, this.#proc)
      this.#answer(reply, kind, state, resolve, reject)
    })
    return call
  }

  #answer(
    reply: WireReply,
    kind: string,
    state: CallState,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: HttpError) => void,
  ): void {
    const { world, random, faults } = this.#context
    const { wire, process } = faults
    if (random.process.chance(process.crash)) {
      this.#context.kill(this.#proc, `after ${kind}`)
      return
    }
    if (random.wire.chance(wire.answerHangs)) return
    if (random.wire.chance(wire.answerLost)) {
      const isPage = random.wire.chance(0.3)
      world.after(this.#wayMs(), this.#proc, () => {
        if (isPage) resolve(this.#answerOf(badGateway, state))
        else reject(new HttpError('broken', 'the connection broke'))
      })
      return
    }
    const isSlow = random.wire.chance(wire.answerSlow)
    const wayMs = isSlow ? random.wire.between(1_000, slowestMs) : this.#wayMs()
    world.after(wayMs, this.#proc, () => resolve(this.#answerOf(reply, state)))
  }

  #answerOf(reply: WireReply, state: CallState): HttpAnswer {
    const { status, body, headers = {}, chunks = [], onRead = () => {} } = reply
    const { random, faults } = this.#context
    const breaks = random.wire.chance(faults.wire.brokenOff)
    const isTrickle = random.wire.chance(faults.wire.answerSlow)
    const rest = [...chunks]
    const minLeft = breaks ? random.wire.whole(0, rest.length) : 0
    const later = <T>(work: () => T) => this.#later(state, work)
    const whole = () => {
      if (breaks) breakOff()
      onRead(body)
      return body
    }
    const read = () =>
      later(() => {
        if (breaks && rest.length <= minLeft) breakOff()
        const chunk = rest.shift()
        if (chunk === undefined) return undefined
        onRead(chunk)
        return Buffer.from(chunk)
      })
    return {
      status,
      header: (name) => headers[name],
      text: () => (!breaks && !isTrickle ? Promise.resolve(whole()) : later(whole)),
      ...readable(read),
      cancel() {
        state.isGivenUp = true
      },
      release() {},
      expectTrickle() {},
    }
  }

  #later<T>(state: CallState, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#context.world.after(this.#wayMs(), this.#proc, () => {
        try {
          if (state.isGivenUp) throw new HttpError('cancelled', 'given up')
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #wayMs(): number {
    const { random, faults } = this.#context
    return random.wire.between(1, 60 + faults.wire.lagMs)
  }
}

function breakOff(): never {
  throw new HttpError('broken', 'it broke off')
}

function parsed(body: string | Uint8Array): Readonly<Record<string, unknown>> {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

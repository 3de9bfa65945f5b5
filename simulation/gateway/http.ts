// The way from one simulated gateway to the upstream. A request that has left arrives or does not,
// whatever becomes of the gateway; its answer comes, comes late, breaks off or never comes.
import type { HttpAnswer, HttpPort } from '../../src/contract/provider.ts'
import { HttpError } from '../../src/lib/http/error.ts'
import { type Asked, answer, type Speaker, type Told } from '../upstream/wire.ts'
import type { Stage } from '../world/context.ts'
import type { Proc } from '../world/world.ts'

const slowestMs = 45_000
const badGateway: Told = { status: 502, body: '<html>bad gateway</html>' }

interface CallState {
  isGivenUp: boolean
}

export class SimHttp implements HttpPort {
  readonly #speaker: Speaker
  readonly #stage: Stage
  readonly #proc: Proc

  constructor(speaker: Speaker, proc: Proc) {
    this.#speaker = speaker
    this.#stage = speaker.stage
    this.#proc = proc
  }

  post: HttpPort['post'] = (url, _headers, body) =>
    this.#call({ method: 'POST', url: new URL(url), body: parsed(body) })

  get: HttpPort['get'] = (url) => this.#call({ method: 'GET', url: new URL(url), body: {} })

  delete: HttpPort['delete'] = (url) =>
    this.#call({ method: 'DELETE', url: new URL(url), body: {} })

  #call(asked: Asked): ReturnType<HttpPort['get']> {
    const { world, random, faults } = this.#stage
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
    // Whoever gave it up does not wait for it.
    promise.catch(() => {})
    const state: CallState = { isGivenUp: false }
    const cancel = () => {
      state.isGivenUp = true
      reject(new HttpError('cancelled', 'given up'))
    }
    const call = { answer: promise, cancel }
    if (!this.#proc.alive) return call
    const where = `${asked.method} ${asked.url.host}${asked.url.pathname}`
    const kind = `${asked.method} ${asked.url.host}`
    if (random.process.chance(faults.process.crash)) {
      this.#stage.kill(this.#proc, `before ${kind}`)
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
      const told = answer(this.#speaker, asked)
      world.note(`${where} -> ${told.status} ${told.body.slice(0, 90)}`, this.#proc)
      this.#answer(told, kind, state, resolve, reject)
    })
    return call
  }

  #answer(
    told: Told,
    kind: string,
    state: CallState,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: HttpError) => void,
  ): void {
    const { world, random, faults } = this.#stage
    const { wire, process } = faults
    if (random.process.chance(process.crash)) {
      this.#stage.kill(this.#proc, `after ${kind}`)
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
    world.after(wayMs, this.#proc, () => resolve(this.#answerOf(told, state)))
  }

  #answerOf({ status, body, headers = {}, chunks = [] }: Told, state: CallState): HttpAnswer {
    const { world, random, faults } = this.#stage
    const breaks = random.wire.chance(faults.wire.brokenOff)
    const isTrickle = random.wire.chance(faults.wire.answerSlow)
    const rest = [...chunks]
    const min = breaks ? random.wire.whole(0, rest.length) : 0
    const later = <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        world.after(this.#wayMs(), this.#proc, () => {
          try {
            if (state.isGivenUp) throw new HttpError('cancelled', 'given up')
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
      })
    return {
      status,
      header: (name) => headers[name],
      text: () =>
        breaks
          ? later(() => {
              throw new HttpError('broken', 'it broke off')
            })
          : isTrickle
            ? later(() => body)
            : Promise.resolve(body),
      read: () =>
        later(() => {
          if (breaks && rest.length <= min) throw new HttpError('broken', 'it broke off')
          const chunk = rest.shift()
          return chunk === undefined ? undefined : Buffer.from(chunk)
        }),
      cancel() {
        state.isGivenUp = true
      },
      release() {},
      expectTrickle() {},
    }
  }

  #wayMs(): number {
    const { random, faults } = this.#stage
    return random.wire.between(1, 60 + faults.wire.lagMs)
  }
}

function parsed(body: string | Uint8Array): Readonly<Record<string, unknown>> {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

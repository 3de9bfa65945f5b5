// Loaded before a gateway's own code (`--preload`): its wall clock is off by what a file says, which
// may change while it runs. Monotonic time and timers stay as they are.
import { readFileSync } from 'node:fs'

const file = process.env['TEST_WALL_CLOCK'] ?? ''
const RealDate = Date
const rereadMs = 20
let aheadMs = 0
let readAtMs = Number.NEGATIVE_INFINITY

function wallMs(): number {
  if (performance.now() - readAtMs > rereadMs) {
    readAtMs = performance.now()
    aheadMs = Number(readFileSync(file, 'utf8'))
  }
  return RealDate.now() + aheadMs
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, self) =>
    Reflect.construct(target, args.length === 0 ? [wallMs()] : args, self),
  apply: () => new RealDate(wallMs()).toString(),
  get: (target, name) => (name === 'now' ? wallMs : Reflect.get(target, name)),
})

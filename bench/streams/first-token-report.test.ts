import { expect, test } from 'bun:test'
import {
  checkFirstToken,
  type Delays,
  formatFirstToken,
  type Round,
  summariseFirstToken,
} from './first-token-report.ts'

const delays = (p50Ms: number, p99Ms: number): Delays => ({ served: 10, failed: 0, p50Ms, p99Ms })

const round = (direct: number, nginx: number, gateway: number): Round => ({
  direct: delays(direct, direct * 10),
  nginx: delays(nginx, nginx * 10),
  gateway: { ...delays(gateway, gateway * 10), failed: 1 },
})

test('what a target adds is the difference within a round, not between medians', () => {
  const rows = summariseFirstToken([round(1, 2, 3), round(10, 12, 11), round(4, 5, 6)])
  const [direct, nginx, gateway] = rows
  expect(direct).toMatchObject({ target: 'direct', p50Ms: 4, overDirect: { p50Ms: 0, p99Ms: 0 } })
  expect(nginx).toMatchObject({ overDirect: { p50Ms: 1 }, nginxRatio: 1 })
  expect(gateway).toMatchObject({
    served: 30,
    failed: 3,
    p50Ms: 6,
    overDirect: { p50Ms: 2, p99Ms: 20 },
    overNginx: { p50Ms: 1 },
    nginxRatio: 1.2,
  })
})

test('the gateway may add one millisecond to the median', () => {
  const verdict = (gateway: number) => checkFirstToken(summariseFirstToken([round(1, 2, gateway)]))
  expect(verdict(2)[0]).toMatchObject({ met: true, value: '1 ms (p99 10 ms)' })
  expect(verdict(2.01)[0]).toMatchObject({ met: false })
})

test('nothing measured meets nothing', () => {
  expect(checkFirstToken(summariseFirstToken([]))[0]).toMatchObject({ met: false })
  expect(checkFirstToken([])[0]).toMatchObject({ met: false })
})

test('the table has a row for every target', () => {
  const text = formatFirstToken(summariseFirstToken([round(1, 2, 3)]))
  expect(text).toMatch(/gateway +3 +30 +2 +20 +1 +10 +1\.50x +10 +1$/m)
  expect(text.split('\n')).toHaveLength(5)
})

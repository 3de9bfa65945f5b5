// The gateway's own secret: one per database, and never in clear in it.
import { describe, expect, test } from 'bun:test'
import { createSeal } from '../../lib/seal.ts'
import { getMeta } from '../../store/meta.ts'
import { engines, failureOf, newPlace } from '../../store/test-engines.ts'
import { fileWith, newTestEngine } from '../test-engine.ts'
import { callbackSecret, loadOwnSecret } from './callback-secret.ts'

describe.each([...engines])('the secret on %s', (on) => {
  test('is made once, the same for all, and sealed', async () => {
    const place = await newPlace(on)
    const store = await place.open()
    const seal = createSeal(new Uint8Array(32).fill(1))
    const [first, second] = await Promise.all([
      loadOwnSecret(store, seal),
      loadOwnSecret(store, seal),
    ])
    expect(first).toMatch(/^whsec_/)
    expect(second).toBe(first!)
    const stored = await getMeta(store.read, 'callback_secret')
    expect(stored).toStartWith('v1.')
    expect(stored).not.toContain(first!.slice(6))
    const otherKey = createSeal(new Uint8Array(32).fill(2))
    expect(await failureOf(loadOwnSecret(store, otherKey))).not.toBe('it did not fail')
    await store.close()
    await place.remove()
  })

  test("gives way to the operator's, from the moment the file has it", async () => {
    const { engine, close } = await newTestEngine(on)
    expect(callbackSecret(engine)).toBe(engine.callbacks.ownSecret)
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    engine.declared = { ...engine.declared, file: fileWith({ callbacks: { secret } }) }
    expect(callbackSecret(engine)).toBe(secret)
    await close()
  })
})

// Callback secrets: one for each account, in no table, rotated with an overlap.
import { describe, expect, test } from 'bun:test'
import { createSeal } from '../../lib/crypto/seal.ts'
import { advanceRotation } from '../../store/catalog/callback-secrets.ts'
import { setMeta } from '../../store/sql/meta.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { fileWith, newTestEngine } from '../test-engine.ts'
import { callbackSecrets, loadSharedSecret, signingSecrets } from './callback-secret.ts'

const dayMs = 24 * 3_600_000

describe.each([...storeKinds])('callback secrets on %s', (on) => {
  test('are of one account each, and the same each time', async () => {
    const { engine, close } = await newTestEngine(on)
    const first = await callbackSecrets(engine, 'acc_1')
    expect(first).toEqual({ source: 'account', secret: first.secret })
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await callbackSecrets(engine, 'acc_1')).toEqual(first)
    expect((await callbackSecrets(engine, 'acc_2')).secret).not.toBe(first.secret)
    const elsewhere = { ...engine, seal: createSeal(new Uint8Array(32).fill(4)) }
    expect((await callbackSecrets(elsewhere, 'acc_1')).secret).not.toBe(first.secret)
    await close()
  })

  test('are rotated, and the old one signs along for a day', async () => {
    const { engine, clock, close } = await newTestEngine(on)
    const seen = new Set<string>()
    for (let i = 0; i < 3; i++) {
      const { secret: before } = await callbackSecrets(engine, 'acc_1')
      seen.add(before)
      await engine.store.tx((tx) => advanceRotation(tx, 'acc_1', clock.ms))
      const { secret } = await callbackSecrets(engine, 'acc_1')
      expect(await signingSecrets(engine, 'acc_1')).toEqual([secret, before])
      clock.ms += dayMs + 1
      expect(await signingSecrets(engine, 'acc_1')).toEqual([secret])
    }
    expect(seen.size).toBe(3)
    await close()
  })

  test("give way to the operator's, from the moment the file has it", async () => {
    const { engine, close } = await newTestEngine(on)
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    engine.declared = { ...engine.declared, file: fileWith({ callbacks: { secret } }) }
    expect(await signingSecrets(engine, 'acc_1')).toEqual([secret])
    await close()
  })

  test('after an upgrade the one that was shared by all signs along for 30 days', async () => {
    const { engine, clock, close } = await newTestEngine(on)
    const { store, seal } = engine
    expect(await loadSharedSecret(store, seal, clock.ms)).toBeUndefined()
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
    const sealed = seal.encrypt(secret, 'callback_secret')
    await store.tx((tx) => setMeta(tx, 'callback_secret', sealed))
    const shared = await loadSharedSecret(store, seal, clock.ms)
    expect(shared).toEqual({ secret, untilMs: clock.ms + 30 * dayMs })
    const upgraded = { ...engine, declared: { ...engine.declared, sharedSecret: shared! } }
    expect((await signingSecrets(upgraded, 'acc_1'))[1]).toBe(secret)
    // An account that has rotated has already updated its receivers.
    await store.tx((tx) => advanceRotation(tx, 'acc_2', clock.ms))
    expect(await signingSecrets(upgraded, 'acc_2')).not.toContain(secret)
    clock.ms += 30 * dayMs
    expect(await signingSecrets(upgraded, 'acc_1')).toHaveLength(1)
    expect(await loadSharedSecret(store, seal, clock.ms)).toBeUndefined()
    await close()
  })
})

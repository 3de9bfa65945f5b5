// Signatures against the official library, for random models and bodies.
import { expect, test } from 'bun:test'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { AwsSigner } from './aws.ts'

const credential = {
  kind: 'aws',
  region: 'us-west-2',
  access_key: 'AKIDEXAMPLE',
  secret_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
} as const

const nowMs = Date.UTC(2026, 10, 18, 9, 30)

test('are the same for every id and body, with and without a session', async () => {
  const ids = fc.oneof(
    fc.constantFrom(
      'amazon.nova-pro-v1:0',
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude',
    ),
    fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  )
  const bodies = fc.oneof(fc.string(), fc.uint8Array())
  await fc.assert(
    fc.asyncProperty(
      ids,
      bodies,
      fc.option(fc.stringMatching(/^[!-~]{1,40}$/)),
      async (id, body, session) => {
        const path = `/model/${encodeURIComponent(id)}/converse-stream`
        const host = 'bedrock-runtime.us-west-2.amazonaws.com'
        const signer = new AwsSigner({
          ...credential,
          ...(session !== null && { session_token: session }),
        })
        const made = await signer.sign(
          'POST',
          `https://${host}${path}`,
          { accept: '*/*' },
          body,
          nowMs,
        )
        const official = await new SignatureV4({
          credentials: {
            accessKeyId: credential.access_key,
            secretAccessKey: credential.secret_key,
            ...(session !== null && { sessionToken: session }),
          },
          ...{
            region: credential.region,
            service: 'bedrock',
            sha256: Sha256,
            applyChecksum: false,
          },
        }).sign(
          {
            ...{ method: 'POST', protocol: 'https:', hostname: host, path, query: {}, body },
            headers: { host },
          },
          { signingDate: new Date(nowMs) },
        )
        expect(made['authorization']).toBe(official.headers['authorization']!)
        expect(made['x-amz-date']).toBe(official.headers['x-amz-date']!)
        expect(made['accept']).toBe('*/*')
      },
    ),
    { numRuns: 200 },
  )
})

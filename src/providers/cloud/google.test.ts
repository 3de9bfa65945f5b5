// Assertions of service accounts against the official library: it takes what is signed here, and claims the same.
import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { JWT, OAuth2Client } from 'google-auth-library'
import { googleToken } from './google.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

const claimsOf = (assertion: string) =>
  JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString())

test('the official library verifies signature, audience, issuer and times', async () => {
  const client = new OAuth2Client()
  const ids = fc.stringMatching(/^[a-z0-9-]{1,30}$/)
  await fc.assert(
    fc.asyncProperty(ids, ids, async (name, kid) => {
      const client_email = `${name}@project.iam.gserviceaccount.com`
      const token_uri = `https://${name}.example/token`
      const account = { client_email, private_key: privateKey, private_key_id: kid, token_uri }
      const { form = {} } = googleToken({ kind: 'google', account }, Date.now())
      const certs = { [kid]: publicKey }
      const jwt = form['assertion']!
      const ticket = await client.verifySignedJwtWithCertsAsync(jwt, certs, token_uri, [
        client_email,
      ])
      expect(ticket.getPayload()).toMatchObject({ iss: client_email, aud: token_uri })
    }),
    { numRuns: 20 },
  )
})

test('the official client asks for the same, at the same address', async () => {
  const account = { client_email: 'a@project.iam.gserviceaccount.com', private_key: privateKey }
  const scopes = ['https://www.googleapis.com/auth/cloud-platform']
  const official = new JWT({ email: account.client_email, key: privateKey, scopes })
  let asked: { url: string; form: URLSearchParams } | undefined
  const request = async ({ url, data }: { url: string; data: URLSearchParams | string }) => {
    asked = { url: String(url), form: new URLSearchParams(data) }
    return { data: { access_token: 't', expires_in: 3599 }, headers: new Headers(), status: 200 }
  }
  Object.assign(official, { transporter: { request, defaults: {} } })
  await official.authorize()
  const theirs = claimsOf(asked!.form.get('assertion')!)
  const ours = googleToken({ kind: 'google', account }, theirs.iat * 1_000)
  expect(ours.url).toBe(asked!.url)
  expect(ours.form!['grant_type']).toBe(asked!.form.get('grant_type')!)
  expect(claimsOf(ours.form!['assertion']!)).toEqual(theirs)
})
